/* oxlint-disable no-control-regex -- a terminal is asked and answers */
// The console with features of sessions beyond running code.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { rlm } from "../program.ts";
import { KEYS, TestTerminal } from "../terminal.ts";
import { remove } from "../../remove.ts";

/** One black pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
/** Code for a value that is shown as that image. */
const PICTURE = `type("P", (), {"_repr_png_": lambda self: __import__("base64").b64decode("${PNG}")})()`;

/** Whether this version of sessions has the feature. */
function has(member: string): boolean {
  return readFileSync("src/session/session.ts", "utf8").includes(member);
}

let folder: string;
beforeEach(() => {
  folder = makeDataFolder();
});
afterEach(() => remove(folder));

async function open(args: readonly string[] = [], env: Record<string, string> = {}): Promise<TestTerminal> {
  const terminal = new TestTerminal(["repl", ...args], {
    env: { RLM_DATA: folder, NO_COLOR: "1", ...env },
    columns: 120,
  });
  await terminal.until(/>>>$/);
  return terminal;
}

async function enter(terminal: TestTerminal, line: string, expected: RegExp): Promise<string> {
  terminal.type(line + KEYS.enter);
  return terminal.until(expected);
}

describe("variables", () => {
  test(":vars lists them, NAME? shows one, or the signature of a function", async () => {
    await using terminal = await open();
    await enter(terminal, "numbers = [1, 2]; text = 'hi'", />>>$/);
    terminal.type(KEYS.paste('def area(radius, unit="m"):\n    "How large it is."\n\n'));
    await enter(terminal, "", /How large[^]*>>>$/);
    await enter(terminal, ":vars", /numbers +list[^]*text +str +'hi'[^]*area +function[^]*>>>$/);
    await enter(terminal, "numbers?", /type: list\nlength: 2\n[^]*value: \[1, 2\]\n>>>$/);
    await enter(terminal, "?area", /area\(radius, unit='m'\)\nHow large it is\.\n[^]*>>>$/);
    await enter(terminal, ":inspect nobody", /there is no 'nobody'\n>>>$/);
  });

  test("Tab completes from the live session, and shows signatures", async () => {
    await using terminal = await open();
    await enter(terminal, "wonderful_name = 42", />>>$/);
    await enter(terminal, "wonder\t + 1", /wonderful_name \+ 1\n43\n>>>$/);
    terminal.type("wonderful_name.re\t");
    await terminal.until(/wonderful_name\.real$/);
    terminal.type(`${KEYS.ctrlC}round(\t`);
    await terminal.until(/>>> round\(\nround\(number, ndigits=None\)/);
  });
});

describe("rich results", () => {
  test("are shown as text if possible, in order with printed output", async () => {
    await using terminal = await open();
    terminal.type(
      KEYS.paste('print("a"); display({"k": 1}); print("b"); display(display_id="later"); "c"') + KEYS.enter,
    );
    await terminal.until(/\na\n\{'k': 1\}\nb\n'c'\n>>>$/);
  });

  test("that are images are saved if the terminal cannot show them", async () => {
    await using terminal = await open();
    terminal.type(PICTURE + KEYS.enter);
    await terminal.untilRaw(/\u001B\[c/); // the terminal is queried
    terminal.type("\u001B[?62;22c");
    await terminal.until(/figures\/figure-1\.png \(1 KiB\)\n>>>$/);
    expect(readFileSync(join(folder, "figures", "figure-1.png")).toString("base64")).toBe(PNG);
  });

  test(
    "that are images are shown with kitty's protocol, or as sixels if the terminal supports them",
    { tags: "stress" },
    async () => {
      await using kitty = await open([], { KITTY_WINDOW_ID: "1" });
      kitty.type(PICTURE + KEYS.enter);
      await kitty.untilRaw(new RegExp(`\u001B_Ga=T,f=100,q=2,m=0;${PNG.replaceAll("+", "\\+")}\u001B`));
      await using other = await open();
      other.type(PICTURE + KEYS.enter);
      await other.untilRaw(/\u001B\[c/);
      other.type("\u001B[?62;4;22c");
      await other.untilRaw(/\u001BPq"1;1;1;1#0;2;0;0;0#0@-\u001B\\/);
      expect(existsSync(join(folder, "figures", "figure-1.png"))).toBe(false);
    },
  );
});

describe.skipIf(!has("files: Files"))("files", () => {
  test(":put and :get copy them, :files lists them, and nothing on the host is replaced", async () => {
    const from = join(folder, "from.txt");
    writeFileSync(from, "abc");
    await using terminal = await open();
    await enter(terminal, `:put ${folder}/fr\t`, /\nfrom\.txt, 3 bytes\n>>>$/);
    await enter(terminal, "open('sub.txt', 'w').write(open('from.txt').read() * 2)", /\n6\n>>>$/);
    await enter(terminal, ":files", /3 {2}from\.txt\n +6 {2}sub\.txt\n>>>$/);
    await enter(terminal, `:get su\t ${folder}/to.txt`, /to\.txt, 6 bytes\n>>>$/);
    expect(readFileSync(join(folder, "to.txt"), "utf8")).toBe("abcabc");
    await enter(terminal, `:get from.txt ${folder}/to.txt`, /is there already: give another path\n>>>$/);
    expect(readFileSync(join(folder, "to.txt"), "utf8")).toBe("abcabc");
  });
});

describe.skipIf(!has("save(path"))("session files", () => {
  test(":save and :load transfer the state to another session, and report what was left out", async () => {
    const path = join(folder, "state.rlm");
    await using terminal = await open();
    await enter(terminal, "x = 7; f = lambda: x + 1; g = (i for i in range(3))", />>>$/);
    await enter(terminal, `:save ${path}`, /names in [^\n]*state\.rlm, \d+ bytes\n[^]*not saved: g: [^\n]*\n>>>$/);
    await enter(terminal, `:load ${path} other`, /now in other, with \d+ names from[^]*other >>>$/);
    await enter(terminal, "f()", /\n8\nother >>>$/);
    await enter(terminal, ":load /no/such", /no\/such/);
  });

  test("--session-file restores the state in the next console", async () => {
    const path = join(folder, "console.rlm");
    {
      await using terminal = await open(["--session-file", path]);
      await enter(terminal, "kept = 'still here'", />>>$/);
      terminal.type(KEYS.ctrlD);
      expect(await terminal.ended).toBe(0);
    }
    await using terminal = await open(["--session-file", path]);
    await enter(terminal, "kept", /\n'still here'\n>>>$/);
  });

  test("rlm exec --session-file carries state from one call to the next, also when the code raised", async () => {
    const path = join(folder, "exec.rlm");
    const run = (code: string) => rlm(["exec", "--session-file", path, "-c", code]);
    expect(await run("import math\ndef double(n): return n * 2\nx = 3")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await run("x = double(x)\nprint(math.floor(x / 4))\n1/0")).toMatchObject({ code: 1, stdout: "1\n" });
    expect(await run("print(x)")).toMatchObject({ code: 0, stdout: "6\n" });
    const skipped = await run("g = (i for i in range(3))");
    expect(skipped).toMatchObject({ code: 0, stdout: "" });
    expect(skipped.stderr).toMatch(/^rlm: not saved: g: /);
  });

  test(
    "a damaged or foreign file is refused and unchanged, and a lost state does not replace the file",
    { tags: "stress" },
    async () => {
      const path = join(folder, "bad.rlm");
      writeFileSync(path, "not a session file");
      const { code, stdout, stderr } = await rlm(["exec", "--session-file", path, "-c", "print('ran')"]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^rlm: .*bad\.rlm/);
      expect(readFileSync(path, "utf8")).toBe("not a session file");
      const good = join(folder, "good.rlm");
      await rlm(["exec", "--session-file", good, "-c", "x = 1"]);
      const before = readFileSync(good);
      const lost = await rlm(["exec", "--session-file", good, "-c", "x = 2; import os; os._exit(0)"]);
      expect(lost.stderr).toContain("the state was lost");
      expect(readFileSync(good)).toEqual(before);
    },
  );

  test("an empty path is wrong usage, and nothing runs", async () => {
    const { code, stdout, stderr } = await rlm(["exec", "--session-file", "", "-c", "print('ran')"]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: "rlm: --session-file needs a path\n" });
  });
});

test("a broken standard library is reported on stderr, and the code runs", async () => {
  writeFileSync(join(folder, "stdlib.py"), "1 / 0\n");
  const { code, stdout, stderr } = await rlm(["exec", "-c", "print('ran')"], { env: { RLM_DATA: folder } });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "ran\n" });
  expect(stderr).toMatch(/^rlm: without the standard library '.*stdlib\.py': ZeroDivisionError: division by zero\n$/);
});
