// Inspecting a session while code runs, copies are made or the worker is replaced. Concurrent, because most of these tests wait.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { InspectionError, type Result, type Runtime, type Session } from "../../internals.ts";
import { openTestRuntime, openWith, valueOf } from "../../open.ts";

let runtime: Runtime;

beforeAll(async () => {
  runtime = await openTestRuntime();
});

afterAll(() => runtime?.close());

const open = (code: string): Promise<Session> => openWith(runtime, code);

/** Resolves when the code has printed something, so that it is running. */
async function start(session: Session, code: string): Promise<{ readonly stop: () => Promise<Result> }> {
  const execution = session.execute(`print("begun", flush=True)\n${code}`, { timeoutMs: null });
  for await (const event of execution) if (event.type === "output-delta") break;
  return {
    stop: async () => {
      session.interrupt();
      return execution.result;
    },
  };
}

describe.concurrent("while code runs", () => {
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
    expect(await session.complete("data['", 6, { timeoutMs: 20_000 })).toMatchObject({
      matches: [{ text: "key", type: "key" }],
    });
    expect(await session.signature("f(", 2)).toMatchObject({ signature: "(alpha)", parameter: 0 });
    // Half a second may be too short when many threads compete for the interpreter.
    await becomes(async () => (await session.info()).variables, expect.arrayContaining(["data", "f"]));
    expect((await session.info()).state).toBe("running");
    const { status, state } = await running.stop();
    expect(status).toBe("interrupted");
    // Where other threads and a busy machine keep the interrupt from the code, the worker is ended after its grace.
    if (state === "kept") expect(await valueOf(session, "data")).toBe("{'key': [1, 2]}");
    else expect(code).toContain("threading");
  });

  test(
    "code that holds the interpreter in C is not disturbed, and the query times out",
    { tags: "stress" },
    async () => {
      await using session = await open("import ctypes\nx = 1");
      // One call that prints and waits without releasing the GIL.
      const held = "ctypes.PyDLL(None).system(b'echo begun; while [ ! -e go ]; do sleep 0.05; done')";
      const execution = session.execute(held, { timeoutMs: null });
      for await (const event of execution) if (event.type === "output-delta") break;
      const unknown = { variableCount: null, variables: [] };
      expect(await session.info()).toMatchObject({ state: "running", memoryBytes: expect.any(Number), ...unknown });
      await expect(session.inspect("x", { timeoutMs: 1 })).rejects.toThrow(InspectionError);
      await session.files.write("go", "");
      expect(await execution.result).toMatchObject({ status: "ok", state: "kept" });
      expect((await session.inspect("x"))?.repr?.text).toBe("1");
    },
  );

  test("an interrupt ends processes of the execution, not an inspection", async () => {
    await using session = await open(
      "import time\nclass Slow:\n    def __repr__(self): open('begun', 'a').close(); time.sleep(0.4); return 'slow'\nslow = Slow()",
    );
    const running = await start(session, "import subprocess; subprocess.run(['sleep', '600'])");
    const inspection = session.inspect("slow", { timeoutMs: 20_000 });
    await becomes(async () => session.files.exists("begun"), true);
    expect(await running.stop()).toMatchObject({ status: "interrupted" });
    expect((await inspection)?.repr?.text).toBe("slow");
  });
});

describe.concurrent("with forks and checkpoints", () => {
  const slow =
    "import time\nclass Slow:\n    def __repr__(self): time.sleep(0.4); return state\nslow, state = Slow(), 'before'";

  test("an open inspection does not prevent a fork, and is answered by the original", { tags: "stress" }, async () => {
    await using session = await open(slow);
    const inspections = Array.from({ length: 6 }, () => session.inspect("slow", { timeoutMs: 20_000 }));
    await session.variables(); // sent after the first ones, so those are open
    await using fork = await session.fork();
    (await fork.execute("state = 'fork'").result).unwrap();
    expect((await fork.inspect("slow"))?.repr?.text).toBe("fork");
    const found = await Promise.all(inspections);
    expect(found.map((one) => one?.repr?.text)).toEqual(Array.from({ length: 6 }, () => "before"));
    expect((await session.info()).variables).toEqual(["time", "Slow", "slow", "state"]);
    expect((await fork.info()).memoryBytes).toBeGreaterThan(0);
  });

  test("an inspection during a rewind is answered from the state after it", { tags: "stress" }, async () => {
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

test.concurrent("the fork of an inspection ends on its own when its worker is lost", { tags: "stress" }, async () => {
  await using session = await open(`
import os, time
class Slow:
    def __repr__(self): os.mkdir("begun"); os.mkdir(f"pid-{os.getpid()}"); time.sleep(600)
slow = Slow()`);
  const checkpoint = await session.checkpoint();
  const isAlive = "[os.path.exists(name.replace('pid-', '/proc/')) for name in os.listdir() if name != 'begun']";
  const inspection = session.inspect("slow", { timeoutMs: 20_000 });
  await becomes(async () => valueOf(session, isAlive), "[True]");
  await session.rewind(checkpoint);
  expect((await inspection)?.errors.repr).toContain("FileExistsError");
  await becomes(async () => valueOf(session, isAlive), "[False]");
});

test.concurrent("a session does not expire during an inspection, and does afterwards", async () => {
  await using session = await runtime.openSession({ idleTimeoutMs: 100 });
  const slow = "class Slow:\n  def __repr__(self):\n    import time; time.sleep(0.4); return 'slow'\nx = Slow()";
  await session.execute(slow).result;
  const ended = new Promise<void>((resolve) => {
    session.subscribe(({ type }) => type === "session-end" && resolve());
  });
  expect(await session.inspect("x", { timeoutMs: 20_000 })).toMatchObject({ preview: "slow", incomplete: null });
  await ended;
});

/** As `expect.poll`, which does not find its test when several run concurrently. */
async function becomes(read: () => Promise<unknown>, expected: unknown): Promise<void> {
  await vi.waitFor(async () => expect(await read()).toEqual(expected), { timeout: 60_000 });
}
