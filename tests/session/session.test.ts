// Sessions: results, order, state, calls to the host, lifetime. Output and time have files of their own.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  EnvironmentUnavailableError,
  LimitExceededError,
  REPLExecutionError,
  REPLSecurityError,
  SessionBusyError,
  SessionClosedError,
  SessionExistsError,
  SessionNotFoundError,
  type Runtime,
} from "../internals.ts";
import { openTestRuntime } from "../open.ts";
import { run, until } from "./run-code.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

/** After a round trip through JSON. */
function toPlain(result: object): unknown {
  return Object.fromEntries(Object.entries(result));
}

describe("a result", () => {
  test("has every field of the specification", async () => {
    await using session = await runtime.openSession({ id: "fields" });
    const result = await run(session, "import sys\nprint('out')\nprint('err', file=sys.stderr)\n6 * 7");
    expect(toPlain(result)).toEqual({
      status: "ok",
      stdout: "out\n",
      stderr: "err\n",
      value: { "text/plain": "42" },
      displays: [],
      state: "kept",
      truncated: null,
      sessionId: "fields",
      executionId: "fields.1",
      executionCount: 1,
      epoch: 1,
      durationMs: expect.any(Number),
      usage: { cpuMs: expect.any(Number), peakMemoryBytes: expect.any(Number) },
    });
    expect(result.usage.peakMemoryBytes).toBeGreaterThan(1_000_000);
  });

  test("of a statement, of None and of empty code has no value", async () => {
    await using session = await runtime.openSession();
    for (const code of ["x = 1", "None", "", "# nothing\n", "\n\n"]) {
      const result = await run(session, code);
      expect(result.status).toBe("ok");
      expect(result).not.toHaveProperty("value");
    }
  });

  test("of an exception has its name, its value and the user's frames only, and state set before is kept", async () => {
    await using session = await runtime.openSession();
    const result = await run(session, "before = 1\ndef f():\n    return 1 / 0\nf()");
    expect(result.status).toBe("error");
    expect(result.error).toMatchObject({ name: "ZeroDivisionError", value: "division by zero" });
    expect(result.error?.traceback).toContain('File "<cell 1>", line 4, in <module>');
    expect(result.error?.traceback).toContain("return 1 / 0");
    expect(result.error?.traceback).not.toMatch(/worker|forkserver/);
    expect((await run(session, "before")).value).toEqual({ "text/plain": "1" });
  });

  test("of an incomplete statement says so, and nothing was run", async () => {
    await using session = await runtime.openSession();
    expect(await run(session, "ran = 1\nfor x in range(3):")).toMatchObject({ incomplete: true });
    expect((await run(session, "'ran' in globals()")).value).toEqual({ "text/plain": "False" });
    expect(await run(session, "1 +* 2")).not.toHaveProperty("incomplete");
  });

  test("of sys.exit keeps the state, of os._exit loses it and changes the epoch", async () => {
    await using session = await runtime.openSession();
    const soft = await run(session, "x = 1\nimport sys; sys.exit(3)");
    expect(soft).toMatchObject({ status: "exit", exitCode: 3, state: "kept", epoch: 1 });
    expect((await run(session, "x")).value).toEqual({ "text/plain": "1" });
    const hard = await run(session, "print('last words', flush=True)\nimport os; os._exit(4)");
    expect(hard).toMatchObject({ status: "exit", exitCode: 4, state: "lost", epoch: 2, stdout: "last words\n" });
    expect(await run(session, "x")).toMatchObject({ status: "error", error: { name: "NameError" }, epoch: 2 });
  });

  test("of a worker killed by the kernel says so, and files stay", async () => {
    await using session = await runtime.openSession();
    await run(session, "open('kept.txt', 'w').write('here')");
    const result = await run(session, "import ctypes; ctypes.string_at(0)");
    expect(result).toMatchObject({ status: "interrupted", reason: "worker-lost", state: "lost", epoch: 2 });
    expect(result.error?.value).toContain("signal 11");
    expect((await run(session, "open('kept.txt').read()")).value).toEqual({ "text/plain": "'here'" });
  });

  test("can be unwrapped", async () => {
    await using session = await runtime.openSession();
    const good = await run(session, "1");
    expect(good.unwrap()).toBe(good);
    const bad = await run(session, "raise ValueError('no')");
    expect(() => bad.unwrap()).toThrow(REPLExecutionError);
    expect(() => bad.unwrap()).toThrow(/ValueError: no/);
  });

  test("can be sent as JSON", async () => {
    await using session = await runtime.openSession();
    const result = await run(session, "print('\\ud800'); 'a\\x00'");
    expect(JSON.parse(JSON.stringify(result))).toEqual(toPlain(result));
  });
});

describe("order", () => {
  test("is first come, first served, and executions past the limit are refused", async () => {
    await using session = await runtime.openSession();
    const blocker = session.execute("import time; time.sleep(60)");
    const waiting = Array.from({ length: 128 }, (_, index) => session.execute(`print(${index})`));
    expect(() => session.execute("1")).toThrow(SessionBusyError);
    expect(await session.info()).toMatchObject({ state: "running", waiting: 128 });
    session.interrupt();
    await blocker.result;
    const printed = await Promise.all(waiting.map(async ({ result }) => (await result).stdout.trim()));
    expect(printed).toEqual(waiting.map((_, index) => String(index)));
  });
});

describe("state", () => {
  test("is kept between executions: names, imports, functions, await, futures", async () => {
    await using session = await runtime.openSession();
    await run(session, "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x * 2");
    expect((await run(session, "await f(21)")).value).toEqual({ "text/plain": "42" });
    await run(session, "task = asyncio.ensure_future(f(4))");
    expect((await run(session, "await task")).value).toEqual({ "text/plain": "8" });
    expect((await run(session, "__name__, f.__module__")).value).toEqual({ "text/plain": "('__main__', '__main__')" });
  });

  test("is emptied by reset(), which keeps id and statistics and clears the history", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 1");
    await session.reset();
    expect(await run(session, "x")).toMatchObject({ status: "error", epoch: 2, executionCount: 2 });
    expect(session.history().map(({ executionCount }) => executionCount)).toEqual([2]);
  });

  test("reset() runs in the order of the queue", async () => {
    await using session = await runtime.openSession();
    const before = session.execute("x = 1\n'x' in globals()");
    const reset = session.reset();
    const after = session.execute("'x' in globals()");
    expect((await before.result).value).toEqual({ "text/plain": "True" });
    await reset;
    expect((await after.result).value).toEqual({ "text/plain": "False" });
  });

  test("concurrent resets all resolve", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 1");
    await Promise.all([session.reset(), session.reset(), session.reset()]);
    expect((await session.info()).epoch).toBe(4);
  });

  test("environment variables belong to the session or to one execution, and none come from the host", async () => {
    process.env["RLM_TEST_CANARY"] = "secret";
    await using session = await runtime.openSession({ env: { A: "session" }, cwd: "/tmp" });
    expect((await run(session, "import os; os.environ['A'], os.getcwd()")).value).toEqual({
      "text/plain": "('session', '/tmp')",
    });
    const once = await run(session, "os.environ['A'], os.environ['B']", { env: { A: "once", B: "b" } });
    expect(once.value).toEqual({ "text/plain": "('once', 'b')" });
    const after = await run(session, "os.environ['A'], 'B' in os.environ, 'RLM_TEST_CANARY' in os.environ");
    expect(after.value).toEqual({ "text/plain": "('session', False, False)" });
    await run(session, "os._exit(0)");
    expect((await run(session, "import os; os.environ['A'], os.getcwd()")).value).toEqual({
      "text/plain": "('session', '/tmp')",
    });
    delete process.env["RLM_TEST_CANARY"];
  });
});

test("code can have a file name, and a session arguments", async () => {
  await using session = await runtime.openSession({ argv: ["script.py", "--flag"] });
  const result = await run(session, "import sys\ndef f():\n    raise ValueError(sys.argv)\nf()", {
    fileName: "script.py",
  });
  expect(result.error?.traceback).toBe(
    [
      "Traceback (most recent call last):",
      '  File "script.py", line 4, in <module>',
      "    f()",
      '  File "script.py", line 3, in f',
      "    raise ValueError(sys.argv)",
      "ValueError: ['script.py', '--flag']",
      "",
    ].join("\n"),
  );
});

describe("calls", () => {
  test("reach the handler and return its answer, many at once, sync, async and from threads", async () => {
    await using session = await runtime.openSession({
      onCall: async ({ name, args }) => ({ name, doubled: Number(args["x"]) * 2 }),
    });
    const result = await run(
      session,
      [
        "import asyncio, rlm_host",
        "from concurrent.futures import ThreadPoolExecutor",
        "one = rlm_host.call('one', x=1)['doubled']",
        "many = await asyncio.gather(*[rlm_host.acall('many', x=i) for i in range(100)])",
        "with ThreadPoolExecutor(8) as pool: threads = list(pool.map(lambda i: rlm_host.call('t', x=i)['doubled'], range(50)))",
        "one, sum(r['doubled'] for r in many), sum(threads)",
      ].join("\n"),
    );
    expect(result.value).toEqual({ "text/plain": "(2, 9900, 2450)" });
  });

  test("that fail raise in the session with the name and the message", async () => {
    await using session = await runtime.openSession({
      onCall: async () => {
        throw new RangeError("too big");
      },
    });
    const result = await run(session, "import rlm_host\nrlm_host.call('x')");
    expect(result.error?.traceback).toContain("RangeError: too big");
    await using deaf = await runtime.openSession();
    expect((await run(deaf, "import rlm_host\nrlm_host.call('x')")).error?.value).toContain("No call named 'x'");
  });

  test("whose answer is not valid JSON raise in the session", async () => {
    await using session = await runtime.openSession({ onCall: async () => 10n });
    const result = await run(session, "import rlm_host\nrlm_host.call('x')");
    expect(result.error?.traceback).toContain("BigInt");
  });

  test("carry large arguments and answers", async () => {
    await using session = await runtime.openSession({ onCall: async ({ args }) => args["text"] });
    const result = await run(session, "import rlm_host\nt = 'ü' * 2_000_000\nrlm_host.call('echo', text=t) == t");
    expect(result.value).toEqual({ "text/plain": "True" });
  });
});

describe("the lifetime of a session", () => {
  test("has random ids for sessions, forks and tasks if the runtime is configured so", async () => {
    await using guarded = await openTestRuntime({ ids: "random" });
    const session = await guarded.openSession();
    const fork = await session.fork();
    const task = guarded.shell("true", { session });
    const random = (prefix: string): unknown => expect.stringMatching(`^${prefix}-[0-9a-f]{16}$`);
    expect([session.id, fork.id, task.id]).toEqual([random("s"), random("s"), random("t")]);
    expect((await run(session, "1")).executionId).toBe(`${session.id}.1`);
  });

  test("can be listed, found and closed with final statistics", async () => {
    const session = await runtime.openSession({ id: "life" });
    await run(session, "1");
    expect(runtime.sessions.list()).toContain(session);
    expect(runtime.sessions.get("life")).toBe(session);
    await expect(runtime.openSession({ id: "life" })).rejects.toThrow(SessionExistsError);
    expect(await session.close()).toMatchObject({ id: "life", state: "closed", executionCount: 1 });
    expect(() => runtime.sessions.get("life")).toThrow(SessionNotFoundError);
    expect(() => session.execute("1")).toThrow(SessionClosedError);
  });

  test("ends running and waiting executions", async () => {
    const session = await runtime.openSession();
    const running = session.execute("print('up', flush=True)\nwhile True: pass");
    for await (const event of running) if (event.type === "output-delta") break;
    const waiting = session.execute("1");
    await session.close();
    expect(await running.result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "lost" });
    expect(await waiting.result).toMatchObject({ status: "interrupted", reason: "cancelled" });
  });

  test("is in no list once it has ended, also when its idle limit is shorter than opening takes", async () => {
    await using own = await openTestRuntime({ poolSize: 0 });
    await own.openSession({ idleTimeoutMs: 1 });
    await expect.poll(() => own.sessions.list()).toEqual([]);
  });

  test("ends after its idle limit, but not while code runs", async () => {
    const session = await runtime.openSession({ idleTimeoutMs: 50 });
    const ended = until(session, "session-end");
    expect((await run(session, "import time; time.sleep(0.3); 1")).status).toBe("ok");
    expect((await ended).why).toContain("idle");
  });

  test("does not expire while it is held, and does afterwards", async () => {
    const held = await runtime.openSession({ idleTimeoutMs: 200 });
    const holds = [held.hold(), held.hold()];
    holds[0]?.[Symbol.dispose]();
    holds[0]?.[Symbol.dispose](); // twice, which must not release the other one
    const other = await runtime.openSession({ idleTimeoutMs: 400 });
    await until(other, "session-end");
    expect(held.state).toBe("idle");
    const ended = until(held, "session-end");
    holds[1]?.[Symbol.dispose]();
    expect((await ended).why).toContain("idle");
  });

  test("refuses invalid options at once", async () => {
    await using session = await runtime.openSession();
    expect(() => session.execute(1 as never)).toThrow(TypeError);
    expect(() => session.execute("1", { timeoutMs: -1 })).toThrow(RangeError);
    expect(() => session.execute("1", { env: { "A=B": "x" } })).toThrow(RangeError);
    await expect(runtime.openSession({ id: "../x" })).rejects.toThrow(RangeError);
    await expect(runtime.openSession({ cwd: "/nowhere" })).rejects.toThrow(/nowhere/);
    await expect(runtime.openSession({ environment: "moon" })).rejects.toThrow(EnvironmentUnavailableError);
    await expect(runtime.openSession({ mounts: [{ path: "/etc", mode: "ro" }] })).rejects.toThrow(REPLSecurityError);
  });

  test("does not start in a runtime that is being closed", async () => {
    const closing = await openTestRuntime({ poolSize: 0 });
    const opening = closing.openSession();
    await closing.close();
    await expect(opening).rejects.toThrow(/closed|ended/);
    await expect(closing.openSession()).rejects.toThrow(/the runtime is closed/);
    await closing.close();
  });

  test("counts against the limit of sessions", async () => {
    await using small = await openTestRuntime({ poolSize: 0, limits: { sessions: 1 } });
    await using _session = await small.openSession();
    await expect(small.openSession()).rejects.toThrow(LimitExceededError);
  });

  test("one-off executions free their session at once", async () => {
    await using small = await openTestRuntime({ poolSize: 0, limits: { sessions: 1 } });
    for (let round = 0; round < 3; round += 1) expect((await small.execute("1")).status).toBe("ok");
  });

  test("invalid limits are refused, absent ones have defaults", async () => {
    await expect(runtime.openSession({ limits: { memoryBytes: -1 } })).rejects.toThrow(RangeError);
    await expect(openTestRuntime({ limits: { sessions: 1.5 } })).rejects.toThrow(/limits.sessions/);
    await expect(openTestRuntime({ idleTimeoutMs: 0 })).rejects.toThrow(/idleTimeoutMs/);
    const limits = { memoryBytes: undefined } as unknown as { memoryBytes: number };
    expect((await runtime.execute("1 + 1", { limits })).value).toEqual({ "text/plain": "2" });
  });

  test("one-off executions have a session of their own", async () => {
    expect(await runtime.execute("import os; os.environ['K']", { env: { K: "v" } })).toMatchObject({
      status: "ok",
      value: { "text/plain": "'v'" },
    });
    expect(await runtime.execute("x = 1")).toMatchObject({ status: "ok" });
    expect((await runtime.execute("x")).error?.name).toBe("NameError");
  });

  test("an execution has the id that its caller chose", async () => {
    const session = await runtime.openSession();
    const execution = session.execute("print(1)", { id: "my.work_1" });
    expect([execution.id, (await execution.result).executionId]).toEqual(["my.work_1", "my.work_1"]);
    expect(session.output("my.work_1")?.bytes.toString()).toBe("1\n");
    expect((await runtime.execute("1", { id: "one-off" })).executionId).toBe("one-off");
    for (const id of ["", ".x", "a/b", 'a"b', "a".repeat(129)])
      expect(() => session.execute("1", { id }), id).toThrow(RangeError);
    await session.close();
  });
});
