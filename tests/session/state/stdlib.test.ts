// The standard library.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { copyForAll } from "../../hostile/ordinary-user.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { openTestRuntime, PYTHON } from "../../open.ts";

const data = makeDataFolder();
const file = join(data, "stdlib.py");
const before = process.env["RLM_DATA"];
let runtime: Runtime;

beforeAll(async () => {
  process.env["RLM_DATA"] = data;
  runtime = await openTestRuntime();
});

afterEach(() => rmSync(file, { force: true }));

afterAll(async () => {
  if (before === undefined) delete process.env["RLM_DATA"];
  else process.env["RLM_DATA"] = before;
  await runtime?.close();
  rmSync(data, { recursive: true });
});

async function value(session: Session, code: string): Promise<string | undefined> {
  const { value: found, error } = await session.execute(code).result;
  return error === undefined ? found?.["text/plain"] : `${error.name}: ${error.value}`;
}

describe("stdlib.add()", () => {
  test("adds functions that every later session has", async () => {
    expect(await runtime.stdlib.add("import math\ndef area(r):\n    return round(math.pi * r * r, 2)\n")).toEqual([
      "math",
      "area",
    ]);
    await using session = await runtime.openSession();
    expect(session.stdlib).toEqual({ loaded: true, error: null });
    expect((await session.info()).stdlib).toEqual({ loaded: true, error: null });
    expect(await value(session, "area(2)")).toBe("12.57");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "works for a user without an account and without HOME, as in containers (root only)",
    { tags: "stress" },
    async () => {
      const place = await copyForAll();
      try {
        const code = `const { openRuntime } = await import("${place.folder}/dist/index.js");
const runtime = await openRuntime({ poolSize: 0, python: ${JSON.stringify(PYTHON)} });
console.log(await runtime.stdlib.add("def f(): return 1"));
await runtime.close();`;
        const env = { PATH: process.env["PATH"], RLM_DATA: place.data };
        const program = spawn(place.node, ["--input-type=module", "-e", code], {
          env,
          cwd: place.folder,
          uid: 64123,
          gid: 64123,
        });
        const [printed, errors] = await Promise.all([text(program.stdout), text(program.stderr)]);
        expect({ printed, errors }).toEqual({ printed: "[ 'f' ]\n", errors: "" });
      } finally {
        place.remove();
      }
    },
  );

  test("replaces a function of the same name, with its comments and decorators, and keeps the rest unchanged", async () => {
    writeFileSync(
      file,
      `"""Mine."""\nimport functools\n\n# counts\n# up\n@functools.cache\ndef f(x):\n    # old\n    return 1\n\n\nLIMIT = 3  # by hand\n\nclass K: pass\n`,
    );
    await runtime.stdlib.add("def f(x):\n    return 2\n\nclass K:\n    new = True\n");
    expect(readFileSync(file, "utf8")).toBe(
      `"""Mine."""\nimport functools\n\nLIMIT = 3  # by hand\n\n\ndef f(x):\n    return 2\n\nclass K:\n    new = True\n`,
    );
    await using session = await runtime.openSession();
    expect(await value(session, "f(1), K.new, LIMIT")).toBe("(2, True, 3)");
  });

  test.each([
    ["a syntax error", "x = 1\ndef f(:\n  pass", "what is to be added has an error in line 2"],
    ["a return outside a function", "x = 1\n\nreturn x", "what is to be added has an error in line 3"],
    ["a NUL", "x = '\0'", "null byte"],
  ])("with %s adds nothing, and reports the position", async (_, source, why) => {
    await runtime.stdlib.add("kept = 1");
    const old = readFileSync(file, "utf8");
    await expect(runtime.stdlib.add(source)).rejects.toMatchObject({
      code: "STDLIB",
      message: expect.stringContaining(why) as string,
    });
    expect(readFileSync(file, "utf8")).toBe(old);
  });

  test("keeps constants, texts and what every kind of definition needs, and runs none of it", async () => {
    const source = `"""Mine."""\nfrom math import pi\nimport os, json as j\nLIMIT = -3\nNAMES: list = ["a", ("b", {"c": 1.5})]\n@print\ndef f(x=print("default")): return LIMIT\nasync def g(): pass\nclass K:\n    print("body")\n`;
    expect(await runtime.stdlib.add(source)).toEqual(["pi", "os", "j", "LIMIT", "NAMES", "f", "g", "K"]);
    expect(readFileSync(file, "utf8")).toBe(source);
  });

  test.each([
    ["a call", "def f(): pass\n\nf()", 3],
    ["a loop", "while True: pass", 1],
    ["a statement behind a definition", "import os; os.remove('x')", 1],
    ["a value that is computed", "X = 1\nY = open('/x')", 2],
    ["an attribute", "import os\nos.environ = {}", 2],
    ["a condition", "if True:\n    def f(): pass", 1],
    ["a deletion", "x = 1\ndel x", 2],
    ["a lambda", "f = lambda: 1", 1],
    ["f-strings", "x = f'{1}'", 1],
  ])("refuses %s: it would run in every later session", async (_, source, line) => {
    await runtime.stdlib.add("def kept(): pass");
    const old = readFileSync(file, "utf8");
    await expect(runtime.stdlib.add(source)).rejects.toMatchObject({
      code: "STDLIB",
      message: expect.stringMatching(
        `^Cannot add to the standard library: only functions, classes, imports and constants can be added, and there is something else in line ${line}: ${source.split("\n")[line - 1]?.slice(0, 3)}`,
      ) as string,
    });
    expect(readFileSync(file, "utf8")).toBe(old);
  });

  test("reports a broken file, and keeps it", async () => {
    writeFileSync(file, "def broken(\n");
    await expect(runtime.stdlib.add("x = 1")).rejects.toThrow("the file has an error in line 1");
    expect(readFileSync(file, "utf8")).toBe("def broken(\n");
  });

  test("loses nothing when called concurrently", async () => {
    await using other = await openTestRuntime();
    const adding = Array.from({ length: 8 }, (_, n) =>
      (n % 2 === 0 ? runtime : other).stdlib.add(`def f${n}():\n    return ${n}\n`),
    );
    await Promise.all(adding);
    const { functions } = await runtime.stdlib.list();
    expect(functions.map(({ name }) => name).toSorted()).toEqual(adding.map((_, n) => `f${n}`));
  });

  test("loses nothing when called from two processes at once", async ({ skip }) => {
    const sdk = join(import.meta.dirname, "../../../dist/index.js");
    if (!existsSync(sdk)) return skip("there is no build");
    const program = (name: string): string => `
      import { openRuntime } from ${JSON.stringify(sdk)};
      const runtime = await openRuntime({ python: ${JSON.stringify(PYTHON)}, preload: [], poolSize: 0 });
      for (let n = 0; n < 4; n += 1) await runtime.stdlib.add("def ${name}" + n + "(): pass");
      await runtime.close();`;
    const children = ["a", "b"].map((name) =>
      spawn(process.execPath, ["--input-type=module", "-e", program(name)], { stdio: "inherit", env: process.env }),
    );
    const codes = await Promise.all(children.map((child) => once(child, "close")));
    expect(codes.map(([code]) => code as number)).toEqual([0, 0]);
    const { functions } = await runtime.stdlib.list();
    expect(functions.map(({ name }) => name).toSorted()).toEqual("a0 a1 a2 a3 b0 b1 b2 b3".split(" "));
  });
});

describe("stdlib.list()", () => {
  test("splits functions, modules and other things", async () => {
    writeFileSync(
      file,
      'import json as j, os.path\nfrom math import pi\n_hidden = 1\nclass Tool: pass\ndef f(a, *, b=2) -> int:\n    """Does it.\n\n    At length."""\nasync def g(): pass\n',
    );
    expect(await runtime.stdlib.list()).toEqual({
      functions: [
        { name: "f", signature: "(a, *, b=2) -> int", doc: "Does it." },
        { name: "g", signature: "()", doc: "" },
      ],
      modules: ["j", "os"],
      other: ["pi", "Tool"],
    });
  });

  test("is empty without a file, and throws for a broken one", async () => {
    expect(await runtime.stdlib.list()).toEqual({ functions: [], modules: [], other: [] });
    writeFileSync(file, "1 / 0\n");
    await expect(runtime.stdlib.list()).rejects.toThrow("ZeroDivisionError: division by zero");
  });
});

describe("a session", () => {
  test("has no library if there is none or none is wanted", async () => {
    await using none = await runtime.openSession();
    expect(none.stdlib).toEqual({ loaded: false, error: null });
    writeFileSync(file, "x = 1\n");
    await using unwanted = await runtime.openSession({ includeStdlib: false });
    expect(unwanted.stdlib).toEqual({ loaded: false, error: null });
    expect(await value(unwanted, "x")).toBe("NameError: name 'x' is not defined");
  });

  test("loads the current file, edits by hand included", async () => {
    writeFileSync(file, "x = 1\n");
    await using first = await runtime.openSession();
    writeFileSync(file, "x = 22\n");
    await using second = await runtime.openSession();
    expect([await value(first, "x"), await value(second, "x")]).toEqual(["1", "22"]);
    runtime.stdlib.reload();
    await using third = await runtime.openSession();
    expect(await value(third, "x")).toBe("22");
  });

  test.each([
    ["a syntax error", "ok = 1\ndef (", "SyntaxError"],
    ["an exception", "ok = 1\nraise KeyError('x')", "KeyError"],
    ["sys.exit()", "ok = 1\nimport sys\nsys.exit(3)", "SystemExit"],
    ["KeyboardInterrupt", "ok = 1\nraise KeyboardInterrupt", "KeyboardInterrupt"],
    ["an exception that cannot be shown", "class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "E"],
    ["os._exit()", "ok = 1\nimport os\nos._exit(3)", "WorkerLost"],
  ])("starts without a library that ends in %s, and reports it", async (_, source, name) => {
    writeFileSync(file, source);
    await using session = await runtime.openSession();
    expect(session.stdlib).toMatchObject({ loaded: false, error: { name } });
    expect(await value(session, "'ok' in globals()")).toBe("False");
    expect((await session.info()).epoch).toBe(1);
  });

  test.each([
    ["has more than 1 MiB", Buffer.from(`def kept(): pass\n#${"x".repeat(2 ** 20)}\n`), "may have 1048576"],
    ["is not UTF-8", Buffer.from("# caf\xe9\ndef kept(): pass\n", "latin1"), "is not UTF-8"],
  ])(
    "reports why the library is not loaded if the file %s, and add() does not replace the file",
    async (_, content, why) => {
      writeFileSync(file, content);
      await using session = await runtime.openSession();
      expect(session.stdlib).toMatchObject({ loaded: false, error: { value: expect.stringContaining(why) as string } });
      await expect(runtime.stdlib.list()).rejects.toThrow(why);
      await expect(runtime.stdlib.add("def new(): pass")).rejects.toThrow(why);
      expect(readFileSync(file).equals(content)).toBe(true);
    },
  );

  test("the error names the line", async () => {
    writeFileSync(file, "def f():\n    return 1 / 0  # here\nf()\n");
    await using session = await runtime.openSession();
    expect(session.stdlib.error?.traceback).toBe(
      'Traceback (most recent call last):\n  File "stdlib.py", line 3, in <module>\n    f()\n' +
        '  File "stdlib.py", line 2, in f\n    return 1 / 0  # here\n' +
        (session.stdlib.error?.traceback.includes("~~^~~") ? "           ~~^~~\n" : "") +
        "ZeroDivisionError: division by zero\n",
    );
  });

  test.each([
    ["never ends", "", "KeyboardInterrupt"],
    ["never ends and hears no interrupt", "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])", "WorkerLost"],
  ])("starts without a library that %s, after some seconds", { tags: "stress" }, async (_, line, name) => {
    writeFileSync(file, `ok = 1\nimport signal, time\n${line}\nwhile True: time.sleep(1)\n`);
    await using session = await runtime.openSession();
    expect(session.stdlib).toMatchObject({ loaded: false, error: { name } });
    expect(await value(session, "'ok' in globals()")).toBe("False");
  });

  test("has it again after a reset, and after its worker was lost", async () => {
    await runtime.stdlib.add("def f(): return 'f'");
    await using session = await runtime.openSession();
    await session.execute("f = None; x = 1").result;
    await session.reset();
    expect(await value(session, "f(), 'x' in globals()")).toBe("('f', False)");
    await session.execute("import os; os._exit(1)").result;
    expect(await value(session, "f()")).toBe("'f'");
  });

  test("saves only changed functions of it, and a loaded session has the current library", async () => {
    await runtime.stdlib.add(
      "import functools\nclass Tool:\n    kind = 'old'\ndef f(): return 1\ndef g(): return 1\n@functools.lru_cache\ndef c(): return 1\n",
    );
    await using session = await runtime.openSession();
    await session.execute("def g(): return 'mine'\ntool = Tool()\nalias = f\nparts = [functools, c]").result;
    const path = join(data, "saved.rlm");
    const report = await session.save(path);
    expect(report.names).toEqual(["g", "tool", "alias", "parts"]);
    await runtime.stdlib.add("class Tool:\n    kind = 'new'\n");
    await using loaded = await runtime.loadSession(path);
    expect(await value(loaded, "g(), tool.kind, isinstance(tool, Tool), alias is f, parts == [functools, c]")).toBe(
      "('mine', 'new', True, True, True)",
    );
    await using bare = await runtime.loadSession(path, { includeStdlib: false });
    expect(bare.loaded).toEqual({
      names: ["g"],
      count: 1,
      skipped: [
        { name: "tool", why: "the standard library of this session has no 'Tool'" },
        { name: "alias", why: "the standard library of this session has no 'f'" },
        { name: "parts", why: "the standard library of this session has no 'c'" },
      ],
    });
  });
});
