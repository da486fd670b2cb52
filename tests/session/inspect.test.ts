// Inspecting a live session: bounded, beside whatever runs, and without a trace in the session.

import { execFileSync } from "node:child_process";
import { format } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InspectionError, SessionClosedError, type Runtime, type Session } from "../../src/index.ts";
import { openTestRuntime, openWith, PYTHON, valueOf } from "../open.ts";

let runtime: Runtime;

beforeAll(async () => {
  runtime = await openTestRuntime();
});

afterAll(() => runtime?.close());

const open = (code: string): Promise<Session> => openWith(runtime, code);

/** Resolves when the code has printed something, and is therefore running. */
async function start(session: Session, code: string): Promise<{ readonly stop: () => Promise<string> }> {
  const execution = session.execute(`print("begun", flush=True)\n${code}`, { timeoutMs: null });
  for await (const event of execution) if (event.type === "output-delta") break;
  return {
    stop: async () => {
      session.interrupt();
      return (await execution.result).status;
    },
  };
}

function has(module: string): boolean {
  try {
    execFileSync(PYTHON, ["-c", `import ${module}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("variables()", () => {
  test("tells name, type, kind, length and a short preview of each name", async () => {
    await using session = await open(
      "import math\nx = 41\ntext = 'a' * 200\nitems = [1, 2]\nnothing = None\ndef f(): pass\nclass C: pass\n_hidden = 1\nc = C()",
    );
    expect(await session.variables()).toEqual({
      total: 8,
      variables: [
        { name: "math", type: "module", module: "builtins", kind: "module" },
        { name: "x", type: "int", module: "builtins", kind: "variable", preview: "41" },
        {
          name: "text",
          type: "str",
          module: "builtins",
          kind: "variable",
          length: 200,
          preview: `'${"a".repeat(80)}'…`,
        },
        { name: "items", type: "list", module: "builtins", kind: "variable", length: 2 },
        { name: "nothing", type: "NoneType", module: "builtins", kind: "variable", preview: "None" },
        { name: "f", type: "function", module: "builtins", kind: "function" },
        { name: "C", type: "type", module: "builtins", kind: "class" },
        { name: "c", type: "C", module: "__main__", kind: "variable" },
      ],
    });
    const all = await session.variables({ all: true });
    expect(all.variables.map(({ name }) => name)).toEqual(expect.arrayContaining(["_hidden", "__name__", "x"]));
  });

  test("lists 10,000 names and says how many there are", async () => {
    await using session = await open("for i in range(12000): globals()[f'v{i}'] = i");
    const { variables, total } = await session.variables();
    expect(variables).toHaveLength(10_000);
    expect(total).toBe(12_001);
  });

  test("runs no code of the user's, whatever the values are", async () => {
    await using session = await open(`
log = []
class Meta(type):
    __name__ = property(lambda cls: log.append("meta name"))
    def __getattribute__(cls, name): log.append(name); return type.__getattribute__(cls, name)
    def __instancecheck__(cls, other): log.append("isinstance")
class Loud(metaclass=Meta):
    def __getattribute__(self, name): log.append(name); return 1
    def __repr__(self): log.append("repr"); return "x"
    def __len__(self): log.append("len"); return 1
    def __eq__(self, other): log.append("eq"); return True
    def __hash__(self): log.append("hash"); return 1
class Text(str):
    def __getitem__(self, at): log.append("item"); return "x"
    def __len__(self): log.append("len"); return 1
loud, text, number = Loud(), Text("abc"), type("N", (int,), {"__repr__": lambda self: log.append("n")})(3)
named = type("X", (), {})
named.__name__ = Text("strange")
strange = named()
log.clear()
`);
    const { variables } = await session.variables({ all: true });
    expect(variables.find(({ name }) => name === "loud")).toEqual({
      name: "loud",
      type: "Loud",
      module: "__main__",
      kind: "variable",
    });
    expect(variables.find(({ name }) => name === "strange")?.type).toBe("strange");
    expect(await valueOf(session, "log")).toBe("[]");
  });
});

describe("inspect()", () => {
  test("tells what a value is, and shows it", async () => {
    await using session = await open("data = {'one': [1, 2, (3,)], 'two': {4}, 'self': None}\ndata['self'] = data");
    expect(await session.inspect("data")).toEqual({
      name: "data",
      type: "dict",
      module: "builtins",
      kind: "variable",
      length: 3,
      sizeBytes: expect.any(Number),
      preview: "{'one': [1, 2, (3,)], 'two': {4}, 'self': {...}}",
      repr: { text: "{'one': [1, 2, (3,)], 'two': {4}, 'self': {...}}", total: 48 },
      str: { text: "{'one': [1, 2, (3,)], 'two': {4}, 'self': {...}}", total: 48 },
      errors: {},
      incomplete: null,
    });
  });

  test("gives null for a name that is not there", async () => {
    await using session = await open("x = 1");
    expect(await session.inspect("nope")).toBeNull();
  });

  test("cuts what is long, and says how long it is", async () => {
    await using session = await open(
      "class Long:\n    def __repr__(self): return 'r' * 50_000\n    def __str__(self): return 's' * 60_000\nlong = Long()",
    );
    const found = await session.inspect("long", { maxCharacters: 7 });
    expect(found).toMatchObject({ repr: { text: "rrrrrrr", total: 50_000 }, str: { text: "sssssss", total: 60_000 } });
  });

  test("never copies a string of 1 GB", async () => {
    await using session = await open("text = 'x' * 1_000_000_000");
    const found = await session.inspect("text", { maxCharacters: 10 });
    expect(found).toMatchObject({
      length: 1_000_000_000,
      repr: { text: "'xxxxxxxxx", total: null, ofFirst: 10 },
      str: { text: "xxxxxxxxxx", total: 1_000_000_000 },
      incomplete: null,
    });
  });

  test("looks at no more of a long list than there is room for", async () => {
    await using session = await open("numbers = list(range(5_000_000))");
    const found = await session.inspect("numbers", { maxCharacters: 20 });
    expect(found).toMatchObject({
      length: 5_000_000,
      preview: "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …]",
      repr: { text: "[0, 1, 2, 3, 4, 5, 6", total: null },
    });
  });

  test("tells what a repr raised, and what it should not have returned", async () => {
    await using session = await open(
      "class Bad:\n    def __repr__(self): raise ValueError('no repr')\n    def __str__(self): return 7\nbad = Bad()",
    );
    expect((await session.inspect("bad"))?.errors).toEqual({
      preview: "ValueError: no repr",
      repr: "ValueError: no repr",
      str: "TypeError: __str__ returned non-string (type int)",
    });
  });

  test("finds the shape and the type of what looks like an array", async () => {
    await using session = await open(
      "class Tensor:\n    shape = (2, 3)\n    dtype = 'half'\n    nbytes = 12\n    def __len__(self): return 2\nt = Tensor()",
    );
    expect(await session.inspect("t")).toMatchObject({ shape: [2, 3], dtype: "half", sizeBytes: 12, length: 2 });
  });

  test.each([
    ["loops", "while True: pass", "timeout"],
    ["sleeps", "import time; time.sleep(60)", "timeout"],
    [
      "ignores signals and loops",
      "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\n        while True: pass",
      "timeout",
    ],
    ["exits", "import os; os._exit(0)", "crashed"],
    ["kills itself", "import os; os.kill(os.getpid(), 9)", "crashed"],
    ["crashes in C", "import ctypes; ctypes.string_at(0)", "crashed"],
  ])("a __repr__ that %s costs only what was not known before it", async (_, body, incomplete) => {
    await using session = await open(`class C:\n    def __repr__(self):\n        ${body}\nc = C(); kept = 'kept'`);
    const found = await session.inspect("c", { timeoutMs: 400 });
    expect(found).toMatchObject({ type: "C", sizeBytes: expect.any(Number), incomplete });
    expect(found?.repr).toBeUndefined();
    expect(await valueOf(session, "kept")).toBe("'kept'");
  });

  test.each([
    ["raises SystemExit", "raise SystemExit(3)", "SystemExit: 3"],
    ["raises KeyboardInterrupt", "raise KeyboardInterrupt", "KeyboardInterrupt"],
    ["recurses without end", "return repr(self)", "RecursionError: maximum recursion depth exceeded"],
    ["forks", "import os; os.fork(); return 'x'", "BlockingIOError: [Errno 11] Resource temporarily unavailable"],
    ["writes a file", "open('/work/trace', 'w').write('x' * 9000); return 'x'", "OSError: [Errno 27] File too large"],
    ["takes much memory", "return 'x' * 900_000_000", "MemoryError"],
  ])("a __repr__ that %s is told as an error", async (_, body, error) => {
    await using session = await open(`class C:\n    def __repr__(self): ${body}\nc = C()`);
    const found = await session.inspect("c");
    expect(found?.errors.repr).toContain(error);
    expect(found?.incomplete).toBeNull();
  });

  test("a __repr__ that changes globals, prints, closes descriptors and kills its parent changes nothing", async () => {
    await using session = await open(`
import os, sys
changes = []
class C:
    def __repr__(self):
        global changed
        changed = True
        changes.append(1)
        print("printed", flush=True)
        os.write(1, b"written")
        sys.stderr.write("more")
        os.chdir("/")
        os.environ["CHANGED"] = "1"
        try: os.kill(os.getppid(), 9)
        except OSError: pass
        for fd in range(3, 64):
            try: os.close(fd)
            except OSError: pass
        return "done"
c = C()
pipe = os.pipe()
os.write(pipe[1], b"intact")
`);
    const background: string[] = [];
    using _ = session.subscribe((event) => event.type === "background-delta" && background.push(event.text));
    expect((await session.inspect("c"))?.repr).toEqual({ text: "done", total: 4 });
    const after = "(changes, 'changed' in globals(), os.getcwd(), 'CHANGED' in os.environ, os.read(pipe[0], 9))";
    const result = await session.execute(after).result;
    expect(result).toMatchObject({ stdout: "", stderr: "", epoch: 1 });
    expect(result.value?.["text/plain"]).toBe("([], False, '/work', False, b'intact')");
    expect(background).toEqual([]);
  });

  test("a __repr__ that needs a lock of a running thread is given up, and the session is unharmed", async () => {
    await using session = await open(
      "import threading\nlock = threading.Lock()\nclass C:\n    def __repr__(self):\n        with lock: return 'free'\nc = C()",
    );
    const execution = session.execute(
      "import time\nwith lock:\n    print('held', flush=True)\n    while True: time.sleep(0.01)",
    );
    for await (const event of execution) if (event.type === "output-delta") break;
    expect(await session.inspect("c", { timeoutMs: 300 })).toMatchObject({ type: "C", incomplete: "timeout" });
    session.interrupt();
    expect((await execution.result).status).toBe("interrupted");
    expect((await session.inspect("c"))?.repr?.text).toBe("free");
    expect(await valueOf(session, "c")).toBe("free");
  });

  test("where no process can be had it tells what needs none", async () => {
    await using session = await runtime.openSession({ limits: { processes: 3 } });
    // The init, the worker and its listener are there already.
    (await session.execute("x = [1, 2, 3]").result).unwrap();
    expect(await session.inspect("x")).toMatchObject({ type: "list", length: 3, incomplete: "no-process" });
    expect((await session.variables()).total).toBe(1);
    expect(await session.complete("x", 1)).toMatchObject({ matches: [], incomplete: "no-process" });
    expect(await session.signature("print(", 6)).toBeNull();
  });

  test("user code that waits for any child meets no fork of an inspection", async () => {
    await using session = await open("import os\nx = 1");
    await session.inspect("x");
    const code = "try: found = os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError: found = None\nfound";
    expect(await valueOf(session, code)).toBeUndefined();
  });
});

describe("while code runs", () => {
  test.each([
    ["a loop", "while True: pass"],
    ["a sleep", "import time; time.sleep(600)"],
    [
      "many threads",
      "import threading\nfor _ in range(8): threading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()\nwhile True: pass",
    ],
    ["a child process", "import subprocess; subprocess.run(['sleep', '600'])"],
  ])("%s: every question is answered, and the execution goes on", async (_, code) => {
    await using session = await open("data = {'key': [1, 2]}\ndef f(alpha): pass");
    const running = await start(session, code);
    expect((await session.variables()).variables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["data", "f"]),
    );
    expect((await session.inspect("data"))?.repr?.text).toBe("{'key': [1, 2]}");
    expect((await session.complete("data['", 6)).matches).toEqual([{ text: "key", type: "key" }]);
    expect(await session.signature("f(", 2)).toMatchObject({ signature: "(alpha)", parameter: 0 });
    // It waits half a second and no longer, which may be too short where many threads want the interpreter.
    await expect.poll(async () => (await session.info()).variables).toEqual(expect.arrayContaining(["data", "f"]));
    expect((await session.info()).state).toBe("running");
    expect(await running.stop()).toBe("interrupted");
    expect(await valueOf(session, "data")).toBe("{'key': [1, 2]}");
  });

  test("code that holds the interpreter in C is not disturbed, and the question fails in good time", async () => {
    await using session = await open("import ctypes\nx = 1");
    // One call that prints and sleeps, and does not let go of the interpreter's lock.
    const held = "ctypes.PyDLL(None).system(b'echo begun; sleep 5')";
    const execution = session.execute(held, { timeoutMs: null });
    for await (const event of execution) if (event.type === "output-delta") break;
    const unknown = { variableCount: null, variables: [] };
    expect(await session.info()).toMatchObject({ state: "running", memoryBytes: expect.any(Number), ...unknown });
    await expect(session.inspect("x", { timeoutMs: 1 })).rejects.toThrow(InspectionError);
    expect(await execution.result).toMatchObject({ status: "ok", state: "kept" });
    expect((await session.inspect("x"))?.repr?.text).toBe("1");
  });

  test("an interrupt ends what the execution started, not an inspection", async () => {
    await using session = await open(
      "import time\nclass Slow:\n    def __repr__(self): open('begun', 'a').close(); time.sleep(0.4); return 'slow'\nslow = Slow()",
    );
    const running = await start(session, "import subprocess; subprocess.run(['sleep', '600'])");
    const inspection = session.inspect("slow", { timeoutMs: 20_000 });
    await expect.poll(() => session.files.exists("begun"), { timeout: 20_000 }).toBe(true);
    expect(await running.stop()).toBe("interrupted");
    expect((await inspection)?.repr?.text).toBe("slow");
  });
});

describe("with forks and checkpoints", () => {
  const slow =
    "import time\nclass Slow:\n    def __repr__(self): time.sleep(0.4); return state\nslow, state = Slow(), 'before'";

  test("an inspection under way prevents no fork, and is answered by the original", async () => {
    await using session = await open(slow);
    const inspections = Array.from({ length: 6 }, () => session.inspect("slow", { timeoutMs: 20_000 }));
    await session.variables(); // asked after the first ones, which are therefore under way
    await using fork = await session.fork();
    (await fork.execute("state = 'fork'").result).unwrap();
    expect((await fork.inspect("slow"))?.repr?.text).toBe("fork");
    const found = await Promise.all(inspections);
    expect(found.map((one) => one?.repr?.text)).toEqual(Array.from({ length: 6 }, () => "before"));
    expect((await session.info()).variables).toEqual(["time", "Slow", "slow", "state"]);
    expect((await fork.info()).memoryBytes).toBeGreaterThan(0);
  });

  test("an inspection that a rewind overtakes is answered from the state after it", async () => {
    await using session = await open(slow);
    const checkpoint = await session.checkpoint();
    (await session.execute("state = 'after'").result).unwrap();
    const inspection = session.inspect("slow", { timeoutMs: 20_000 });
    await session.variables();
    await session.rewind(checkpoint);
    expect((await inspection)?.repr?.text).toBe("before");
    expect((await session.variables()).variables.find(({ name }) => name === "state")?.preview).toBe("'before'");
  });
});

test("a fork that outlives the worker it was made for ends by itself", async () => {
  await using session = await open(`
import os, time
class Slow:
    def __repr__(self): os.mkdir("/tmp/begun"); time.sleep(600)
slow = Slow()`);
  const checkpoint = await session.checkpoint();
  const processes = "sum(name.isdigit() for name in os.listdir('/proc'))";
  const inspection = session.inspect("slow", { timeoutMs: 5000 });
  await expect.poll(() => valueOf(session, "os.path.exists('/tmp/begun')")).toBe("True");
  await expect.poll(() => valueOf(session, processes)).toBe("4"); // the init, the worker, the checkpoint, and the fork, whose parent is gone
  await session.rewind(checkpoint);
  expect((await inspection)?.errors.repr).toContain("FileExistsError");
  await expect.poll(() => valueOf(session, processes)).toBe("3");
});

test("a session does not expire while a question is looked into, and does so afterwards", async () => {
  await using session = await runtime.openSession({ idleTimeoutMs: 100 });
  const slow = "class Slow:\n  def __repr__(self):\n    import time; time.sleep(0.4); return 'slow'\nx = Slow()";
  await session.execute(slow).result;
  const ended = new Promise<void>((resolve) => {
    session.subscribe(({ type }) => type === "session-end" && resolve());
  });
  expect(await session.inspect("x")).toMatchObject({ preview: "slow", incomplete: null });
  await ended;
});

test("200 inspections at once are all answered", async () => {
  await using session = await open("for i in range(200): globals()[f'v{i}'] = i");
  const found = await Promise.all(Array.from({ length: 200 }, (_, index) => session.inspect(`v${index}`)));
  expect(found.map((one) => one?.repr?.text)).toEqual(Array.from({ length: 200 }, (_, index) => String(index)));
});

test("the results of close() and info() are the same, and info() remembers them", async () => {
  const session = await open("a = 1\nb = 2\n_c = 3");
  expect(await session.info()).toMatchObject({ state: "idle", variableCount: 2, variables: ["a", "b"] });
  const final = await session.close();
  expect(final).toMatchObject({ state: "closed", variableCount: 2, variables: ["a", "b"], executionCount: 1 });
  expect(final.memoryBytes).toBeGreaterThan(1_000_000);
  expect(await session.info()).toEqual(final);
  await expect(session.variables()).rejects.toThrow(SessionClosedError);
  await expect(session.inspect("a")).rejects.toThrow(SessionClosedError);
});

test("a question waits for the worker that comes after a lost one", async () => {
  await using session = await open("x = 1");
  await session.execute("import os; os._exit(1)").result;
  expect(await session.variables()).toEqual({ variables: [], total: 0 });
});

test("a session can be printed, and nothing is asked for it", async () => {
  await using session = await open("x = 1");
  expect(format("%o", session)).toBe(`Session { id: '${session.id}', state: 'idle' }`);
  expect(() => expect([session]).toContain(7)).toThrow("to include 7");
});

test("a mistake in a question is told at once", async () => {
  await using session = await open("x = 1");
  await expect(session.inspect(7 as unknown as string)).rejects.toThrow(TypeError);
  await expect(session.inspect("x", { timeoutMs: 0 })).rejects.toThrow(RangeError);
  await expect(session.inspect("x", { timeoutMs: 30_001 })).rejects.toThrow(RangeError);
  await expect(session.inspect("x", { maxCharacters: 0 })).rejects.toThrow(RangeError);
  await expect(session.complete("x", 2)).rejects.toThrow(RangeError);
  await expect(session.signature("x", -1)).rejects.toThrow(RangeError);
});

const hasPandas = has("pandas");

describe.skipIf(!hasPandas)(`numpy and pandas${hasPandas ? "" : ` (skipped: ${PYTHON} has no pandas)`}`, () => {
  test("an array tells shape, type and size, and is shown as numpy shows it", async () => {
    await using session = await open(
      "import numpy as np\na = np.zeros((3000, 4)); n = np.float64(2.5); z = np.array(1)",
    );
    const { variables } = await session.variables();
    expect(variables).toContainEqual({
      name: "a",
      type: "ndarray",
      module: "numpy",
      kind: "variable",
      length: 3000,
      shape: [3000, 4],
      dtype: "float64",
    });
    expect(variables.find(({ name }) => name === "n")).toMatchObject({ dtype: "float64", preview: "2.5" });
    const found = await session.inspect("a");
    expect(found).toMatchObject({ shape: [3000, 4], dtype: "float64", sizeBytes: 96_000 });
    expect(found?.repr?.text).toContain("...");
    expect(await session.inspect("z")).toMatchObject({ shape: [], dtype: "int64", errors: {} });
  });

  test("a frame of ten million rows tells columns, size and first rows", async () => {
    await using session = await open(
      "import numpy as np, pandas as pd\ndf = pd.DataFrame({'id': np.arange(10_000_000), 'half': np.ones(10_000_000, 'float32')})",
    );
    expect((await session.variables()).variables.find(({ name }) => name === "df")?.shape).toEqual([10_000_000, 2]);
    const found = await session.inspect("df");
    expect(found).toMatchObject({
      type: "DataFrame",
      shape: [10_000_000, 2],
      length: 10_000_000,
      sizeBytes: expect.closeTo(120_000_000, -4),
      columnCount: 2,
      columns: [
        { name: "id", dtype: "int64" },
        { name: "half", dtype: "float32" },
      ],
      errors: {},
      incomplete: null,
    });
    expect(found?.preview).toContain("id  half");
    expect(found?.repr?.text).toContain("[10000000 rows x 2 columns]");
  });

  test("columns beyond 200 are counted", async () => {
    await using session = await open("import pandas as pd\nwide = pd.DataFrame([range(1000)])");
    const found = await session.inspect("wide");
    expect(found?.columns).toHaveLength(200);
    expect(found?.columnCount).toBe(1000);
  });
});
