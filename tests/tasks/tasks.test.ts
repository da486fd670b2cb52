import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LimitExceededError, type Runtime, TaskNotFoundError, TaskStateError } from "../internals.ts";
import { SpillFiles } from "../../src/output/spill-file.ts";
import type { SessionId, TaskId } from "../../src/protocol/ids.ts";
import { Tasks } from "../../src/tasks/tasks.ts";
import { ActiveWork } from "../../src/util/async/active-work.ts";
import { openTestRuntime } from "../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("tasks", () => {
  test("are found by id and listed in the order in which they started", async () => {
    const first = runtime.shell("true");
    const second = runtime.shell("sleep 60");
    expect(runtime.tasks.get(first.id)).toBe(first);
    expect(runtime.tasks.list().slice(-2)).toEqual([first, second]);
    expect(second.info()).toEqual({
      id: second.id,
      kind: "shell",
      sessionId: "default",
      command: "sleep 60",
      status: "running",
      startedAt: expect.stringMatching(/^\d{4}-/),
      endedAt: null,
      durationMs: expect.any(Number),
      exitCode: null,
      why: null,
      outputBytes: 0,
      background: false,
      usage: { cpuMs: 0, peakMemoryBytes: 0 },
    });
    await second.cancel();
  });

  test("that are unknown are an error that names the known ones", () => {
    expect(() => runtime.tasks.get("t999")).toThrow(TaskNotFoundError);
    expect(() => runtime.tasks.get("t999")).toThrow(/Cannot find task 't999': the latest are .*t1/);
  });

  test("share one id space with executions", async () => {
    const task = runtime.shell("true");
    const session = await runtime.obtainSession("default");
    const execution = session.execute("print('hello'); 6 * 7");
    const adopted = runtime.tasks.adopt(execution);
    expect(Number(adopted.id.slice(1))).toBe(Number(task.id.slice(1)) + 1);
    expect(runtime.tasks.adopt(execution)).toBe(adopted);
    expect(await adopted.result).toMatchObject({
      taskId: adopted.id,
      status: "completed",
      stdout: "hello\n",
      exitCode: null,
    });
    expect((await adopted.execution.result).value?.["text/plain"]).toBe("42");
    expect(adopted.output().bytes.toString()).toBe("hello\n");
  });

  test("that are executions keep their output after the session has dropped it", async () => {
    const session = await runtime.openSession();
    const execution = session.execute("print('kept'); import sys; print('both', file=sys.stderr)");
    await execution.result;
    const adopted = runtime.tasks.adopt(execution);
    await session.close();
    expect(adopted.output({ stream: "stdout" }).bytes.toString()).toBe("kept\n");
    expect(adopted.info()).toMatchObject({ kind: "execution", status: "completed", outputBytes: 10 });
  });

  test("that are executions can be cancelled, but not paused or written to", async () => {
    await using session = await runtime.openSession();
    const task = runtime.tasks.adopt(session.execute("while True: pass"));
    const waiting = runtime.tasks.adopt(session.execute("x = 1"));
    await expect(task.pause()).rejects.toThrow(TaskStateError);
    await expect(task.write()).rejects.toThrow("Only shell commands allow that");
    await waiting.cancel();
    await task.cancel();
    expect(task.status).toBe("cancelled");
    expect((await waiting.execution.result).status).toBe("interrupted");
  });

  test("share one default session, also when they start at once", async () => {
    await using own = await openTestRuntime();
    const results = await Promise.all(Array.from({ length: 8 }, () => own.shell("echo $$ >> all; wc -l < all").result));
    expect(results.map(({ status }) => status)).toEqual(results.map(() => "completed"));
    expect(own.sessions.list().map(({ id }) => id)).toEqual(["default"]);
    expect((await own.shell("wc -l < all").result).stdout.trim()).toBe("8");
  });

  test("are refused while too many run, and accepted again after that", async () => {
    await using own = await openTestRuntime({ limits: { tasks: 2 } });
    const running = [own.shell("sleep 60"), own.shell("sleep 60")];
    expect(() => own.shell("true")).toThrow(LimitExceededError);
    await running[0]?.cancel();
    expect(await own.shell("true").result).toMatchObject({ status: "completed" });
  });
});

describe("finished tasks", () => {
  const outputLimits = { keptBytes: 1000, readableBytes: 1000, files: new SpillFiles() };
  let made = 0;
  function makeTasks(limits: Partial<ConstructorParameters<typeof Tasks>[0]>) {
    const usual = { running: 100, finished: 1000, finishedBytes: 1e9, keptMs: 3_600_000, output: outputLimits };
    const makeId = (): TaskId => {
      made += 1;
      return `t${made}` as TaskId;
    };
    return new Tasks({ ...usual, ...limits }, makeId, new ActiveWork());
  }
  /** A task that cannot start finishes at once. */
  async function finish(tasks: Tasks, text = ""): Promise<string> {
    const task = tasks.shell({
      command: "true",
      sessionId: "default" as SessionId,
      cwd: undefined,
      env: {},
      timeoutMs: null,
      stdin: "none",
      signal: undefined,
      outputLimits,
      lease: () => Promise.reject(new Error("no sandbox")),
    });
    if (text !== "") task.onOutput("stdout", Buffer.from(text));
    expect(await task.result).toMatchObject({ status: "failed", why: "no sandbox" });
    return task.id;
  }

  test("are dropped when there are too many, the oldest first", async () => {
    const tasks = makeTasks({ finished: 20 });
    const ids: string[] = [];
    for (let n = 0; n < 10_000; n += 1) ids.push(await finish(tasks));
    expect(tasks.list().map(({ id }) => id)).toEqual(ids.slice(-20));
    tasks.close();
  });

  test("are dropped when they printed too much together; the last one stays", async () => {
    const tasks = makeTasks({ finishedBytes: 250 });
    const ids = [
      await finish(tasks, "a".repeat(100)),
      await finish(tasks, "b".repeat(100)),
      await finish(tasks, "c".repeat(100)),
    ];
    expect(tasks.list().map(({ id }) => id)).toEqual(ids.slice(1));
    const last = await finish(tasks, "d".repeat(900));
    expect(tasks.list().map(({ id }) => id)).toEqual([last]);
    tasks.close();
  });

  test("are dropped after their time to live", async () => {
    const tasks = makeTasks({ keptMs: 0 });
    await finish(tasks);
    expect(tasks.list()).toEqual([]);
    tasks.close();
  });
});
