// Results as a model reads them.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { connect, factsOf, textOf, type Connection } from "./connect.ts";

let mcp: Connection;
beforeAll(async () => {
  mcp = await connect();
});
afterAll(async () => {
  await mcp[Symbol.asyncDispose]();
});

describe("Python", () => {
  test.each([
    ["what is printed", "print('a')\nprint('b')", "a\nb"],
    ["the value of the last expression", "'x' * 3", "→ 'xxx'"],
    [
      "a value of several lines on lines of its own",
      "class T:\n    def __repr__(self): return 'a\\nb'\nT()",
      "→\na\nb",
    ],
    ["stderr under a heading", "import sys\nprint('out')\nprint('err', file=sys.stderr)\n1", "out\n[stderr]\nerr\n→ 1"],
    [
      "both streams in the order they were printed",
      "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')\n1",
      "a\nb\nc\n→ 1",
    ],
    ["that there was nothing", "y = 1", "[no output]"],
    ["that there was nothing to see", "print()", "[no output]"],
    ["the exit of the code", "import sys\nsys.exit(3)", "[exit 3]"],
    ["text without the colours of a terminal", "print('\\x1b[31mred\\x1b[0m')", "red"],
    ["the last state of a progress bar", "print('10%\\r50%\\r100%')", "100%"],
    [
      "the last state of one that took long",
      "for i in range(20_000): print(f'\\r{i} of 20000', end='')",
      "19999 of 20000",
    ],
  ])("shows %s", async (_, code, text) => {
    expect(await mcp.text("execute_python", { code })).toBe(text);
  });

  test("machine-readable data has CPU time and peak memory, of code and of commands", async () => {
    const code = "held = bytearray(50_000_000); sum(range(1_000_000))";
    for (const [tool, args] of [
      ["execute_python", { code }],
      ["shell", { command: `python3 -c "${code}"` }],
    ] as const) {
      const { cpu_ms: cpuMs, peak_memory_bytes: peak } = factsOf(await mcp.call(tool, args));
      expect(cpuMs).toBeGreaterThan(0);
      expect(peak).toBeGreaterThan(50_000_000);
    }
  });

  test("an exception is an error with the frames of the user's code, and the state is kept", async () => {
    const text = await mcp.failure("execute_python", { code: "kept = 7\nprint('before')\n1 / 0" });
    expect(text).toMatch(/^before\nTraceback .*\n {2}File "<cell \d+>", line 3.*ZeroDivisionError: division by zero$/s);
    expect(await mcp.text("execute_python", { code: "kept" })).toBe("→ 7");
  });

  test("code that ends in the middle of a statement says that nothing was run", async () => {
    expect(await mcp.failure("execute_python", { code: "def f(" })).toContain("Nothing was run.");
  });

  test("input() sees the end of input, and does not wait", async () => {
    expect(await mcp.failure("execute_python", { code: "input('name? ')" })).toContain("EOFError");
  });

  test("a timeout is an error that says what became of the variables", async () => {
    const text = await mcp.failure("execute_python", { code: "z = 5\nwhile True: pass", timeout: 1 });
    expect(text).toMatch(
      /KeyboardInterrupt\n\[Stopped after 1[.\d]* s: time limit\. .*\]\n\[The session's variables are kept\.\]$/s,
    );
    expect(await mcp.text("execute_python", { code: "z" })).toBe("→ 5");
  });

  test("a lost process says that the variables were lost", async () => {
    await mcp.text("create_repl_session", { session_id: "doomed" });
    const result = await mcp.call("execute_repl", { session_id: "doomed", code: "import os\nos._exit(4)" });
    expect(textOf(result)).toBe(
      "[exit 4]\n[The session's variables were lost; the files in its working directory are still there.]",
    );
    expect(factsOf(result)).toMatchObject({ status: "exit", exit_code: 4, state: "lost" });
    const killed = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)";
    expect(await mcp.failure("execute_repl", { session_id: "doomed", code: killed })).toContain("variables were lost");
  });

  test("a long execution without output says that it has ended", async () => {
    const [python, shell] = await Promise.all([
      mcp.text("execute_python", { code: "import time\ntime.sleep(1.05)" }),
      mcp.text("shell", { command: "sleep 1.05" }),
    ]);
    expect([python, shell]).toEqual([expect.stringMatching(SILENT), expect.stringMatching(SILENT)]);
  });

  test("python keeps no state", async () => {
    expect(await mcp.text("python", { code: "once = 1\nonce" })).toBe("→ 1");
    expect(await mcp.failure("python", { code: "once" })).toContain("NameError");
  });
});

describe("commands", () => {
  test("a non-zero exit is not an error", async () => {
    const result = await mcp.call("shell", { command: "echo some | grep nothing" });
    expect(result.isError ?? false).toBe(false);
    expect(textOf(result)).toBe("[exit 1]");
  });

  test("a command that does not exist says so", async () => {
    const text = await mcp.text("shell", { command: "no-such-command" });
    expect(text).toMatch(/no-such-command: command not found\n\[exit 127\]$/);
  });

  test("a command that reads input finds none, and does not wait", async () => {
    expect(await mcp.text("shell", { command: "cat" })).toBe("[no output]");
    expect(await mcp.text("shell", { command: "/usr/bin/python3 -c 'input()'" })).toContain("EOFError");
  });

  test("background processes of a command are reported, and can be killed", async () => {
    const result = await mcp.call("shell", { command: "sleep 1000 & echo started" });
    expect(textOf(result)).toMatch(
      /^started\n\[What it started in the background goes on; shell_status\(task_id="t\d+", kill=true\) ends it\.\]$/,
    );
    const id = factsOf(result)["task_id"];
    const end = { task_id: id, kill: true };
    expect(await mcp.text("shell_status", end)).toBe("started[What it had left running was ended.]");
    expect(await mcp.text("shell_status", end)).toBe("started[It had ended already.]");
  });

  test("a timeout is an error", async () => {
    const text = await mcp.failure("shell", { command: "echo begun; sleep 100", timeout: 1 });
    expect(text).toMatch(/^begun\n\[timed-out.*\]$/s);
  });

  test("cwd is where it runs, also under the name that other servers use", async () => {
    await mcp.text("shell", { command: "mkdir -p inner" });
    const inner = `${await mcp.text("shell", { command: "pwd" })}/inner`;
    expect(await mcp.text("shell", { command: "pwd", cwd: "inner" })).toBe(inner);
    expect(await mcp.text("shell", { command: "pwd", working_dir: "inner" })).toBe(inner);
  });
});

describe("long output", () => {
  test("1 MB of output gives at most 10,000 characters, and the named calls read the rest", async () => {
    const code = "for i in range(50_000): print(f'line {i:05d} {\"x\" * 9}')";
    const result = await mcp.call("execute_python", { code });
    const text = textOf(result);
    expect(text.length).toBeLessThanOrEqual(10_000);
    expect(text.startsWith("line 00000")).toBe(true);
    expect(text).toContain("line 49999");
    const next = nextCall(text);
    const read = await readAll(next);
    const head = text.slice(0, text.indexOf("[…"));
    expect(head + read).toBe(
      Array.from({ length: 50_000 }, (_, i) => `line ${String(i).padStart(5, "0")} xxxxxxxxx\n`).join(""),
    );
    expect(factsOf(result)).toMatchObject({ truncated: true, task_id: next.task_id, stdout_bytes: 1_050_000 });
  });

  test("a resource link leads to the whole output", async () => {
    const result = await mcp.call("shell", { command: "seq 1 100000" });
    const link = result.content.find((block) => block.type === "resource_link");
    let uri = link?.uri ?? "";
    let all = "";
    for (;;) {
      const { contents } = await mcp.client.readResource({ uri });
      const [{ text = "" } = {}] = contents as { text?: string }[];
      expect(text.length).toBeLessThanOrEqual(100_200);
      const more = /\n\[more: (?<uri>rlm:\S+)\]$/.exec(text);
      all += more === null ? text : text.slice(0, more.index);
      if (more === null) break;
      uri = more.groups?.["uri"] ?? "";
    }
    expect(all.trimEnd()).toBe(Array.from({ length: 100_000 }, (_, i) => i + 1).join("\n"));
  });

  test("max_output decides how much is shown", async () => {
    const short = await mcp.text("shell", { command: "seq 1 10000", max_output: 200 });
    expect(short.length).toBeLessThanOrEqual(200);
    const long = await mcp.text("shell", { command: "seq 1 10000", max_output: 100_000 });
    expect(long.split("\n")).toHaveLength(10_000);
  });

  test("both streams are shown in the order they were printed", async () => {
    const code = `
import sys
for i in range(2000):
    print("out", i, flush=True)
    if i == 1000: print("HERE", file=sys.stderr, flush=True)
`;
    const text = await mcp.text("execute_python", { code, max_output: 300 });
    expect(text).toContain("out 1999");
    expect(text).not.toContain("[stderr]");
  });

  test("a traceback stays at the end of long output", async () => {
    const text = await mcp.failure("execute_python", { code: "print('x\\n' * 100_000)\n1 / 0" });
    expect(text.length).toBeLessThanOrEqual(10_000);
    expect(text.endsWith("ZeroDivisionError: division by zero")).toBe(true);
  });

  test("an exception with a long message is truncated once, and says how long it is", async () => {
    const text = await mcp.failure("execute_python", { code: "raise ValueError('m' * 1_000_000)" });
    expect(text).toMatch(
      /^Traceback [^…]*ValueError: m+\n\[… 99\d,\d{3} of 1,000,\d{3} characters omitted; catch the exception and print a part of it\]\nm+$/,
    );
  });
});

describe("long values", () => {
  const numbers = `[${Array.from({ length: 100_000 }, (_, i) => i).join(", ")}]`;

  test.each([
    ["alone", "list(range(100_000))", {}, numbers],
    ["that the worker did not cut", "'a' * 15_000 + 'z'", {}, `'${"a".repeat(15_000)}z'`],
    ["where a variable is called _", "for _ in range(3): pass\nlist(range(100_000))", {}, numbers],
    ["of characters outside of the first plane", "'😀' * 9000", {}, `'${"😀".repeat(9000)}'`],
    ["after a little output", "print('x' * 50)\nlist(range(100_000))", {}, numbers],
    ["after a lot of output", "print('x' * 50_000)\nlist(range(100_000))", {}, numbers],
    ["where more is asked for than there is", "list(range(100_000))", { max_output: 100_000 }, numbers],
    ["where little is asked for", "list(range(100_000))", { max_output: 300 }, numbers],
  ])("a long value %s is truncated once, and the named call reads the rest", async (_, code, options, value) => {
    const result = await mcp.call("execute_python", { code, ...options });
    const text = textOf(result);
    expect(text.length).toBeLessThanOrEqual((options as { max_output?: number }).max_output ?? 10_000);
    const { head = "", omitted = "", total = "", call = "", tail = "" } = VALUE.exec(text)?.groups ?? {};
    const length = countCharacters(value);
    expect([head, tail].map((end) => value.includes(end) && end.length > 20)).toEqual([true, true]);
    expect(toNumber(total)).toBe(length);
    expect(countCharacters(head) + toNumber(omitted) + countCharacters(tail)).toBe(length);
    const read = await mcp.text("execute_python", { code: call, max_output: 100_000 });
    expect(value.startsWith(head + read)).toBe(true);
    expect(read.length).toBeGreaterThan(4000);
    expect(factsOf(result)).toMatchObject({ truncated: true });
  });

  test("the call names the session that has the value", async () => {
    await mcp.text("create_repl_session", { session_id: "other" });
    const text = await mcp.text("execute_repl", { session_id: "other", code: "'o' * 20_000" });
    expect(text).toMatch(/\[\d+:\d+\]\)", session_id="other"\)\]/);
  });

  test("no call is named if it could not work", async () => {
    expect(await mcp.text("python", { code: "'a' * 20_000" })).toContain("assign it to a variable and print a part]");
    const markdown = "class M:\n    def _repr_markdown_(self): return 'm' * 20_000\nM()";
    expect(await mcp.text("execute_python", { code: markdown })).toContain("assign it to a variable and print a part]");
  });

  test("with much output, too, it is no longer than requested", async () => {
    const text = await mcp.text("execute_python", { code: "print('x' * 500)\n'a' * 20_000", max_output: 200 });
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text).toMatch(/^x+\n\[… [^\n]*\nx*\n→\n'a+\n\[… [^\n]* characters omitted\]\na+'$/);
  });
});

describe("rich results", () => {
  const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const picture = `
import base64
class Picture:
    def _repr_png_(self): return base64.b64decode("${PNG}")
    def __repr__(self): return "<Picture>"
`;

  test("images are image content, at most two of them", async () => {
    const result = await mcp.call("execute_python", { code: `${picture}\nfor _ in range(4): display(Picture())` });
    expect(result.content.filter(({ type }) => type === "image")).toHaveLength(2);
    expect(textOf(result)).toBe("[not shown: 2 more images]");
  });

  test("an image as the value is shown, too", async () => {
    const result = await mcp.call("execute_python", { code: `${picture}\nPicture()` });
    expect(result.content).toContainEqual({ type: "image", data: PNG, mimeType: "image/png" });
  });

  test("rich forms without text are named in one line", async () => {
    const code = `
class Drawing:
    def _repr_svg_(self): return "<svg/>"
    def __repr__(self): return "<Drawing>"
display(Drawing())
`;
    expect(await mcp.text("execute_python", { code })).toBe("<Drawing>\n[not shown: SVG]");
  });

  test("an image that is too large for the worker is named, with what to do", async () => {
    const code =
      "class Scan:\n  def _repr_png_(self): return b'x' * 20_000_000\n  def __repr__(self): return 'scan'\nScan()";
    const text = await mcp.text("execute_python", { code });
    // A busy machine may take more than a second, which is then shown.
    expect(text.replace(/\n\[\d+\.\d s\]$/, "")).toBe(
      "→ scan\n[not shown: an image: it is larger than 16 MiB; save it smaller]",
    );
  });

  test.each(["markdown", "latex"])("%s is shown where the object says only its kind", async (kind) => {
    const code = `
class Text:
    def _repr_${kind}_(self): return "# title"
    def __repr__(self): return "<Text>"
Text()
`;
    expect(await mcp.text("execute_python", { code })).toBe("→ # title");
  });
});

describe("structured results", () => {
  test("contain everything, and the text as well", async () => {
    await using structured = await connect({ isStructured: true, beside: mcp });
    await structured.client.listTools(); // from now on it holds results to their schemas
    const result = await structured.call("execute_python", { code: "print('a')\n7" });
    expect(result.structuredContent).toMatchObject({ text: "a\n→ 7", status: "ok", stdout: "a\n", value: "7" });
    expect((await structured.call("shell", { command: "echo b; exit 2" })).structuredContent).toMatchObject({
      status: "completed",
      exit_code: 2,
      stdout: "b\n",
    });
    expect((await structured.call("execute_python", { code: "1 / 0" })).structuredContent).toMatchObject({
      status: "error",
      error: { name: "ZeroDivisionError", value: "division by zero" },
    });
    expect((await structured.call("list_repl_sessions")).structuredContent).toMatchObject({ text: expect.any(String) });
    expect(await structured.failure("execute_repl", { session_id: "x", code: "1" })).toMatch(/^No session/);
  });

  test("contain no image, and no more text than requested", async () => {
    await using structured = await connect({ isStructured: true, beside: mcp });
    const code = "class P:\n    def _repr_png_(self): return b'x' * 9000\ndisplay(P())\nprint('y' * 50_000)";
    const { structuredContent } = await structured.call("execute_python", { code, max_output: 500 });
    expect(JSON.stringify(structuredContent).length).toBeLessThan(2_500);
  });
});

const SILENT = /^\[no output · [\d.]+ s\]$/;
const VALUE =
  /(?:^|\n)→\n(?<head>[^\n]*)\n\[… (?<omitted>[\d,]+) of (?<total>[\d,]+) characters omitted; read on with execute_python\(code="(?<call>[^"]*)"\)\]\n(?<tail>[^\n]*)$/;

/** As Python counts them. */
function countCharacters(text: string): number {
  return Array.from(text).length;
}

function toNumber(text: string): number {
  return Number(text.replaceAll(",", ""));
}

interface NextCall {
  readonly task_id: string;
  readonly offset: number;
}

/** The call that a result names, as a model would make it. */
function nextCall(text: string): NextCall {
  const found = /shell_status\(task_id="(?<id>[^"]+)", offset=(?<offset>\d+)\)/.exec(text)?.groups;
  if (found === undefined) throw new Error(`no call in: ${text.slice(0, 500)}`);
  return { task_id: found["id"] ?? "", offset: Number(found["offset"]) };
}

/** Follows the calls to the end of the output. */
async function readAll(first: NextCall): Promise<string> {
  let all = "";
  for (let next: NextCall | undefined = first; next !== undefined;) {
    const result: CallToolResult = await mcp.call("shell_status", { ...next });
    const text = textOf(result);
    expect(text.length).toBeLessThanOrEqual(10_000);
    const at = text.search(/\n\[[^\n]*(?:bytes more: shell_status|Its result|completed)[^\n]*\]/);
    all += `${at === -1 ? text : text.slice(0, at)}\n`;
    next = /bytes more: /.test(text) ? nextCall(text.slice(text.lastIndexOf("bytes more"))) : undefined;
  }
  return all;
}
