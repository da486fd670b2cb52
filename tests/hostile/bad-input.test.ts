// Whatever is passed as code: the result is clear, and the session still answers afterwards.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRuntime, type ExecutionResult, type Runtime } from "../internals.ts";
import { python } from "./machine.ts";

const MIB = 2 ** 20;
let runtime: Runtime;

beforeAll(async () => {
  runtime = await openRuntime({ python, preload: [], limits: { memoryBytes: 512 * MIB, diskBytes: 64 * MIB } });
});

afterAll(() => runtime?.close());

type Seen = Partial<ExecutionResult>;
const OK: Seen = { status: "ok", state: "kept" };
const error = (name: string): Seen => ({
  status: "error",
  state: "kept",
  error: expect.objectContaining({ name }) as never,
});

describe("code", () => {
  test.each<[string, string, Seen]>([
    ["no code", "", OK],
    ["only blanks", " \n\t\n", OK],
    ["only a comment", "# nothing", OK],
    ["5 MB of comment", `#${"x".repeat(5_000_000)}\n1`, { ...OK, value: { "text/plain": "1" } }],
    ["NUL bytes", "a = 1\0", { status: "error", state: "kept" }],
    ["a lone surrogate", `x = "\ud800"`, { status: "error", state: "kept" }],
    ["a byte order mark", "\ufeff1+1", error("SyntaxError")],
    ["carriage returns", "x = 1\r\ny = 2\r\nx + y", { ...OK, value: { "text/plain": "3" } }],
    ["a syntax error", "x ===== 1", error("SyntaxError")],
    ["the middle of a statement", "def f(:", error("SyntaxError")],
    ["wrong indentation", "  x = 1\n y = 2", error("IndentationError")],
    ["5,000 brackets", `${"(".repeat(5000)}${")".repeat(5000)}`, { status: "error", state: "kept" }],
    ["a long sum", Array.from({ length: 5000 }, () => "1").join("+"), { state: "kept" }],
    ["a raised string", `raise "x"`, error("TypeError")],
    ["sys.exit", `import sys; sys.exit(3)`, { status: "exit", exitCode: 3, state: "kept" }],
    ["sys.exit with a text", `import sys; sys.exit("no")`, { status: "exit", exitCode: 1, state: "kept" }],
    ["os._exit", `import os; os._exit(3)`, { status: "exit", exitCode: 3, state: "lost" }],
    ["abort", `import os; os.abort()`, { status: "interrupted", reason: "worker-lost", state: "lost" }],
    [
      "its working directory deleted",
      `import os, shutil; os.mkdir("d"); os.chdir("d"); shutil.rmtree(os.getcwd()); 1`,
      OK,
    ],
    ["everything in it deleted", `import os; os.system("rm -rf /work/* /work /tmp/*"); 1`, OK],
    ["stdout replaced", `import sys; sys.stdout = None; 1`, OK],
    [
      "stdout replaced by nonsense",
      `import sys; sys.stdout = sys.stderr = object(); print("x")`,
      error("AttributeError"),
    ],
    ["print replaced", `import builtins; builtins.print = None; 1`, OK],
    ["__import__ replaced", `import builtins; builtins.__import__ = None; 1`, OK],
    ["every name deleted", `for n in list(globals()): del globals()[n]`, {}],
    ["memory exhausted", `x = bytearray(4 << 30)`, error("MemoryError")],
    ["disk exhausted", `f = open("f", "wb", 0)\nwhile True: f.write(bytes(1 << 20))`, error("OSError")],
    ["descriptors exhausted", `f = [open("/dev/null") for _ in range(10000)]`, error("OSError")],
    ["a __repr__ that raises", `class R:\n    def __repr__(self): 1/0\nR()`, error("ZeroDivisionError")],
    ["a __repr__ that is no text", `class R:\n    def __repr__(self): return 1\nR()`, error("TypeError")],
    [
      "an exception that cannot be shown",
      `class E(Exception):\n    def __str__(self): raise self\nraise E()`,
      error("E"),
    ],
    ["recursion", `def f(): return f()\nf()`, error("RecursionError")],
    ["a fork that exits", `import os\nif os.fork() == 0: os._exit(0)\nos.wait(); 1`, OK],
    ["a fork that goes on", `import os\nos.fork(); 1`, OK],
    ["sys.settrace", `import sys\ndef t(*a): raise RuntimeError\nsys.settrace(t); 1`, { state: "kept" }],
    ["sys.setprofile", `import sys\nsys.setprofile(lambda *a: 1/0); 1`, { state: "kept" }],
    ["10,000 lines on stderr", `import sys\nfor i in range(10_000): sys.stderr.write("x\\n")`, OK],
    [
      "a handler for every signal",
      `import signal\nfor s in signal.valid_signals():\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass`,
      OK,
    ],
    ["an endless generator as value", `import itertools; itertools.count()`, OK],
    ["a modified sys.modules", `import sys; sys.modules.clear()`, {}],
  ])("%s", (_, code, expected) => runs(code, expected));

  test.each([
    ["50 MB of comment", `#${"x".repeat(50_000_000)}\n1`, { ...OK, value: { "text/plain": "1" } }],
    ["50 MB of string", `x = "${"é".repeat(25_000_000)}"; len(x)`, { ...OK, value: { "text/plain": "25000000" } }],
    ["50 MB of line ends", "\n".repeat(50_000_000), OK],
    ["a million lines on stderr", `import sys\nfor i in range(1_000_000): sys.stderr.write("x\\n")`, OK],
  ])("%s", { tags: "stress" }, (_, code, expected) => runs(code, expected));

  async function runs(code: string, expected: object): Promise<void> {
    await using session = await runtime.openSession();
    const result = await session.execute(code, { timeoutMs: 20_000 }).result;
    expect(result).toMatchObject(expected);
    await expectAnswer(session);
  }

  test("every descriptor closed", async () => {
    await using session = await runtime.openSession();
    const result = await session.execute("import os; os.closerange(0, 1000)", { timeoutMs: 2000 }).result;
    expect(result).toMatchObject({ status: "interrupted", state: "lost" });
    await expectAnswer(session);
  });

  test(
    "signals ignored and exceptions swallowed: the worker is ended after its grace",
    { tags: "stress" },
    async () => {
      await using session = await runtime.openSession();
      const code = `import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True: time.sleep(1)`;
      const result = await session.execute(code, { timeoutMs: 2_000 }).result;
      expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "lost" });
      await expectAnswer(session);
    },
  );

  test(
    "recursion without a limit ends with an error, not with a wait for its traceback",
    { tags: "stress" },
    async () => {
      await using session = await runtime.openSession({ limits: { memoryBytes: 192 * 1024 * 1024 } });
      const code = `import sys; sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()`;
      const result = await session.execute(code, { timeoutMs: null }).result;
      expect(result).toMatchObject({
        status: "error",
        state: "kept",
        error: { name: expect.stringMatching(/^(Memory|System)Error$/) },
      });
      await expectAnswer(session);
    },
  );
});

describe("what is no code", () => {
  test.each([undefined, null, 1, {}, Buffer.from("1")])("%s is a mistake of the caller", async (code) => {
    await using session = await runtime.openSession();
    expect(() => session.execute(code as string)).toThrow(TypeError);
    await expectAnswer(session);
  });
});

async function expectAnswer(session: Awaited<ReturnType<Runtime["openSession"]>>): Promise<void> {
  let result = await session.execute("1+1", { timeoutMs: 20_000 }).result;
  if (result.state === "lost") result = await session.execute("1+1", { timeoutMs: 20_000 }).result;
  expect(result.value).toEqual({ "text/plain": "2" });
}
