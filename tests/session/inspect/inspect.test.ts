// Inspecting an idle session: within limits, and without changing it. While code runs: inspect-running.test.ts.

import { format } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InspectionError, SessionClosedError, type Runtime, type Session } from "../../internals.ts";
import { openTestRuntime, openWith, valueOf, workFolderOf } from "../../open.ts";

let runtime: Runtime;

beforeAll(async () => {
  runtime = await openTestRuntime();
});

afterAll(() => runtime?.close());

const open = (code: string): Promise<Session> => openWith(runtime, code);

describe("variables()", () => {
  test("returns name, type, kind, length and a short preview of each variable", async () => {
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
        { name: "items", type: "list", module: "builtins", kind: "variable", length: 2, preview: "[1, 2]" },
        { name: "nothing", type: "NoneType", module: "builtins", kind: "variable", preview: "None" },
        { name: "f", type: "function", module: "builtins", kind: "function" },
        { name: "C", type: "type", module: "builtins", kind: "class" },
        { name: "c", type: "C", module: "__main__", kind: "variable" },
      ],
    });
    const all = await session.variables({ all: true });
    expect(all.variables.map(({ name }) => name)).toEqual(expect.arrayContaining(["_hidden", "__name__", "x"]));
  });

  test.each([
    ["['a', 'b' * 100]", "['a', 'bbbbbbbbbbbbbbbbbbbbbbbb'…]"],
    ["list(range(1000))", "[0, 1, 2, 3, 4, 5, 6, 7, …]"],
    ["{'a': 1, 'b': [1], 'c': None}", "{'a': 1, 'b': …, 'c': None}"],
    ["(1,)", "(1,)"],
    ["set()", "set()"],
    ["frozenset({b'x'})", "frozenset({b'x'})"],
    ["[Loud(), 1]", "[…]"],
    ["{'x': Loud()}", "{'x': …}"],
    ["LoudList([1])", undefined],
  ])("previews the first items of %s, and runs no user code", async (value, preview) => {
    await using session = await open(
      `ran = 0\nclass Loud:\n    def __repr__(self):\n        global ran\n        ran += 1\n        return 'loud'\nclass LoudList(list):\n    __iter__ = __len__ = __repr__ = Loud.__repr__\nx = ${value}`,
    );
    const previewOf = async (name: string): Promise<string | undefined> =>
      (await session.variables()).variables.find((variable) => variable.name === name)?.preview;
    expect(await previewOf("x")).toBe(preview);
    expect(await previewOf("ran")).toBe("0");
  });

  test("lists 10,000 names and the total", async () => {
    await using session = await open("for i in range(12000): globals()[f'v{i}'] = i");
    const { variables, total } = await session.variables();
    expect(variables).toHaveLength(10_000);
    expect(total).toBe(12_001);
  });

  test("runs no user code, whatever the values are", async () => {
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
  test("describes a value and shows it", async () => {
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

  test("returns null for an unknown name", async () => {
    await using session = await open("x = 1");
    expect(await session.inspect("nope")).toBeNull();
  });

  test("truncates long values and returns their length", async () => {
    await using session = await open(
      "class Long:\n    def __repr__(self): return 'r' * 50_000\n    def __str__(self): return 's' * 60_000\nlong = Long()",
    );
    const found = await session.inspect("long", { maxCharacters: 7 });
    expect(found).toMatchObject({ repr: { text: "rrrrrrr", total: 50_000 }, str: { text: "sssssss", total: 60_000 } });
  });

  test("never copies a string of 1 GB", { tags: "stress" }, async () => {
    await using session = await open("text = 'x' * 1_000_000_000");
    const found = await session.inspect("text", { maxCharacters: 10 });
    expect(found).toMatchObject({
      length: 1_000_000_000,
      repr: { text: "'xxxxxxxxx", total: null, ofFirst: 10 },
      str: { text: "xxxxxxxxxx", total: 1_000_000_000 },
      incomplete: null,
    });
  });

  test("reads no more of a long list than fits", async () => {
    await using session = await open("numbers = list(range(5_000_000))");
    const found = await session.inspect("numbers", { maxCharacters: 20 });
    expect(found).toMatchObject({
      length: 5_000_000,
      preview: "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …]",
      repr: { text: "[0, 1, 2, 3, 4, 5, 6", total: null },
    });
  });

  test("reports what a repr raised, and a repr of the wrong type", async () => {
    await using session = await open(
      "class Bad:\n    def __repr__(self): raise ValueError('no repr')\n    def __str__(self): return 7\nbad = Bad()",
    );
    expect((await session.inspect("bad"))?.errors).toEqual({
      preview: "ValueError: no repr",
      repr: "ValueError: no repr",
      str: "TypeError: __str__ returned non-string (type int)",
    });
  });

  test("finds the shape and dtype of array-like objects", async () => {
    await using session = await open(
      "class Tensor:\n    shape = (2, 3)\n    dtype = 'half'\n    nbytes = 12\n    def __len__(self): return 2\nt = Tensor()",
    );
    expect(await session.inspect("t")).toMatchObject({ shape: [2, 3], dtype: "half", sizeBytes: 12, length: 2 });
  });

  test.each([
    ["exits", "import os; os._exit(0)"],
    ["kills itself", "import os; os.kill(os.getpid(), 9)"],
    ["crashes in C", "import ctypes; ctypes.string_at(0)"],
  ])("a __repr__ that %s costs only what was not known before it", async (_, body) => {
    await using session = await open(`class C:\n    def __repr__(self):\n        ${body}\nc = C(); kept = 'kept'`);
    const found = await session.inspect("c", { timeoutMs: 30_000 });
    expect(found).toMatchObject({ type: "C", sizeBytes: expect.any(Number), incomplete: "crashed" });
    expect(found?.repr).toBeUndefined();
    expect(await valueOf(session, "kept")).toBe("'kept'");
  });

  test.each([
    ["loops", "while True: pass"],
    ["sleeps", "import time; time.sleep(60)"],
    [
      "ignores signals and loops",
      "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\n        while True: pass",
    ],
  ])("a __repr__ that %s is ended at the time limit, and costs only what was not known before it", async (_, body) => {
    await using session = await open(
      `import os\nclass C:\n    def __repr__(self):\n        os.makedirs('begun', exist_ok=True)\n        ${body}\nc = C(); kept = 'kept'`,
    );
    let found: Awaited<ReturnType<Session["inspect"]>> = null;
    // A busy machine needs longer to come to the repr.
    for (let timeoutMs = 200; found === null; timeoutMs *= 2) {
      const seen = await session.inspect("c", { timeoutMs }).catch((error: unknown) => {
        expect(error).toBeInstanceOf(InspectionError);
        return null;
      });
      if (await session.files.exists("begun")) found = seen;
    }
    expect(found).toMatchObject({ type: "C", sizeBytes: expect.any(Number), incomplete: "timeout" });
    expect(found?.repr).toBeUndefined();
    expect(await valueOf(session, "kept")).toBe("'kept'");
  });

  test.each([
    ["raises SystemExit", "raise SystemExit(3)", "SystemExit: 3"],
    ["raises KeyboardInterrupt", "raise KeyboardInterrupt", "KeyboardInterrupt"],
    ["recurses without end", "return repr(self)", "RecursionError: maximum recursion depth exceeded"],
    ["forks", "import os; os.fork(); return 'x'", "BlockingIOError: [Errno 11] Resource temporarily unavailable"],
    ["writes a file", "open('trace', 'w').write('x' * 9000); return 'x'", "OSError: [Errno 27] File too large"],
    ["takes much memory", "return 'x' * 900_000_000", "MemoryError"],
  ])("a __repr__ that %s is reported as an error", async (_, body, error) => {
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
    const work = await workFolderOf(session);
    const background: string[] = [];
    using _ = session.subscribe((event) => event.type === "background-delta" && background.push(event.text));
    expect((await session.inspect("c"))?.repr).toEqual({ text: "done", total: 4 });
    const after = "(changes, 'changed' in globals(), os.getcwd(), 'CHANGED' in os.environ, os.read(pipe[0], 9))";
    const result = await session.execute(after).result;
    expect(result).toMatchObject({ stdout: "", stderr: "", epoch: 1 });
    expect(result.value?.["text/plain"]).toBe(`([], False, '${work}', False, b'intact')`);
    expect(background).toEqual([]);
  });

  test("a __repr__ that needs a lock of a running thread times out, and the session is unharmed", async () => {
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

  test("without a free process it returns what needs none", async () => {
    await using session = await runtime.openSession({ limits: { processes: 3 } });
    // The init, the worker and its listener thread exist already.
    (await session.execute("x = [1, 2, 3]").result).unwrap();
    expect(await session.inspect("x")).toMatchObject({ type: "list", length: 3, incomplete: "no-process" });
    expect((await session.variables()).total).toBe(1);
    expect(await session.complete("x", 1)).toMatchObject({ matches: [], incomplete: "no-process" });
    expect(await session.signature("print(", 6)).toBeNull();
  });

  test("user code that waits for any child never sees the fork of an inspection", async () => {
    await using session = await open("import os\nx = 1");
    await session.inspect("x");
    const code = "try: found = os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError: found = None\nfound";
    expect(await valueOf(session, code)).toBeUndefined();
  });
});

test("200 concurrent inspections are all answered", { tags: "stress" }, async () => {
  await using session = await open("for i in range(200): globals()[f'v{i}'] = i");
  const found = await Promise.all(Array.from({ length: 200 }, (_, index) => session.inspect(`v${index}`)));
  expect(found.map((one) => one?.repr?.text)).toEqual(Array.from({ length: 200 }, (_, index) => String(index)));
});

test("close() and info() return the same, and info() keeps it after the close", async () => {
  const session = await open("a = 1\nb = 2\n_c = 3");
  expect(await session.info()).toMatchObject({ state: "idle", variableCount: 2, variables: ["a", "b"] });
  const final = await session.close();
  expect(final).toMatchObject({ state: "closed", variableCount: 2, variables: ["a", "b"], executionCount: 1 });
  expect(final.memoryBytes).toBeGreaterThan(1_000_000);
  expect(await session.info()).toEqual(final);
  await expect(session.variables()).rejects.toThrow(SessionClosedError);
  await expect(session.inspect("a")).rejects.toThrow(SessionClosedError);
});

test("a query waits for the next worker after a loss", async () => {
  await using session = await open("x = 1");
  await session.execute("import os; os._exit(1)").result;
  expect(await session.variables()).toEqual({ variables: [], total: 0 });
});

test("a session can be printed without a query", async () => {
  await using session = await open("x = 1");
  expect(format("%o", session)).toBe(`Session { id: '${session.id}', state: 'idle' }`);
  expect(() => expect([session]).toContain(7)).toThrow("to include 7");
});

test("invalid arguments are refused at once", async () => {
  await using session = await open("x = 1");
  await expect(session.inspect(7 as unknown as string)).rejects.toThrow(TypeError);
  await expect(session.inspect("x", { timeoutMs: 0 })).rejects.toThrow(RangeError);
  await expect(session.inspect("x", { timeoutMs: 30_001 })).rejects.toThrow(RangeError);
  await expect(session.inspect("x", { maxCharacters: 0 })).rejects.toThrow(RangeError);
  await expect(session.complete("x", 2)).rejects.toThrow(RangeError);
  await expect(session.signature("x", -1)).rejects.toThrow(RangeError);
});
