import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../internals.ts";
import { openTestRuntime, valueOf } from "../open.ts";
import { comesToRest, printed, processesIn } from "./observe-task.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("a running command", () => {
  const DAEMON = "setsid bash -c '(sleep 4711 &) ; sleep 4711' & ";

  test("is cancelled with everything it started, detached processes and those that ignore SIGTERM included", async () => {
    await using session = await runtime.openSession();
    const task = runtime.shell(
      `trap '' TERM; ${DAEMON} bash -c "trap '' TERM; sleep 4711; sleep 4711" & echo up; wait; sleep 4711`,
      {
        session,
      },
    );
    await printed(task, "up");
    await task.cancel();
    expect(await task.result).toMatchObject({ status: "cancelled", why: "it was cancelled", background: false });
    expect(await processesIn(session, "4711")).toBe("[]");
  });

  test("is paused and resumed with everything it started", async () => {
    await using session = await runtime.openSession();
    const task = runtime.shell(`${DAEMON} while true; do echo tick; sleep 0.01; done`, { session });
    await printed(task, "tick");
    while ((await processesIn(session, "4711")) !== "['S', 'S']") await task.wait(5);
    await task.pause();
    expect(task.status).toBe("paused");
    expect(await processesIn(session, "4711")).toBe("['T', 'T']");
    const totalBytes = await comesToRest(task);
    await task.resume();
    expect(task.status).toBe("running");
    while (task.output({ length: 0 }).totalBytes === totalBytes) await task.wait(5);
    await task.pause();
    await task.cancel();
    expect(await processesIn(session, "4711")).toBe("[]");
    await expect(task.pause()).rejects.toThrow("it has ended");
  });

  test("can be paused and cancelled before it has started", async () => {
    await using session = await runtime.openSession();
    const tasks = Array.from({ length: 12 }, () => runtime.shell("(setsid sleep 4719 &) ; sleep 4719", { session }));
    await Promise.all(tasks.filter((_, index) => index % 2 === 0).map((task) => task.pause()));
    await Promise.all(tasks.map((task) => task.cancel()));
    expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => "cancelled"));
    expect(await processesIn(session, "4719")).toBe("[]");
  });

  test("is in the state that was requested last, also before it has started", async () => {
    const task = runtime.shell("echo went on");
    await Promise.all([task.pause(), task.resume(), task.pause(), task.resume()]);
    expect(await task.result).toMatchObject({ status: "completed", stdout: "went on\n" });
  });

  test("is ended by its time limit, without counting pauses", async () => {
    const task = runtime.shell("sleep 4712", { timeoutMs: 300 });
    await task.pause();
    expect(await task.wait(500)).toBe(false);
    await task.resume();
    expect(await task.result).toMatchObject({
      status: "timed-out",
      why: "its time limit of 0.3 s had passed",
      exitCode: 143,
    });
  });

  test("that is cancelled gives its processes time to end, even if its shell ends at once", async () => {
    const code =
      "import signal, sys, time; signal.signal(15, lambda *_: (time.sleep(0.1), print(2), sys.exit())); print(1, flush=True); time.sleep(60)";
    const task = runtime.shell(`python3 -c '${code}'; echo never`);
    await printed(task, "1");
    await task.cancel();
    expect(await task.result).toMatchObject({
      status: "cancelled",
      exitCode: 143,
      stdout: "1\n2\n",
      background: false,
    });
  });

  test("is cancelled by a signal, also before it started", async () => {
    const controller = new AbortController();
    const task = runtime.shell("sleep 4713", { signal: controller.signal });
    controller.abort();
    expect(await task.result).toMatchObject({ status: "cancelled" });
    expect(() => runtime.shell("true", { signal: controller.signal })).toThrow(/abort/i);
  });

  test("goes on when its session is interrupted, loses its worker or is reset", async () => {
    await using session = await runtime.openSession();
    const task = runtime.shell("read line; echo $line", { session, stdin: "open" });
    const execution = session.execute("import subprocess; subprocess.run(['sleep', '60'])");
    await task.wait(50);
    session.interrupt();
    expect((await execution.result).status).toBe("interrupted");
    expect((await session.execute("import os; os._exit(1)").result).state).toBe("lost");
    await session.reset();
    expect(task.status).toBe("running");
    await task.write("still here\n");
    expect((await task.result).stdout).toBe("still here\n");
  });

  test("keeps its session from expiring", async () => {
    await using session = await runtime.openSession({ idleTimeoutMs: 100 });
    const task = runtime.shell("sleep 0.5; echo done", { session });
    expect((await task.result).stdout).toBe("done\n");
    const ended = new Promise((resolve) =>
      session.subscribe((event) => event.type === "session-end" && resolve(event)),
    );
    expect(await ended).toMatchObject({ why: "it was idle for too long" });
  });

  test("ends with its session, and reports why", async () => {
    const session = await runtime.openSession({ id: "short" });
    const task = runtime.shell(`${DAEMON} sleep 4714`, { session });
    await task.wait(20);
    await session.close();
    expect(await task.result).toMatchObject({ status: "cancelled", why: "session 'short' ended: it was closed" });
  });

  test("of a fork ends with the fork, and those of other forks go on", async () => {
    await using session = await runtime.openSession();
    const fork = await session.fork();
    const mine = runtime.shell("sleep 4716", { session });
    const theirs = runtime.shell(`${DAEMON} sleep 4715`, { session: fork });
    await theirs.wait(50);
    await fork.close();
    expect(await theirs.result).toMatchObject({ status: "cancelled" });
    expect(await processesIn(session, "4711")).toBe("[]");
    expect(await processesIn(session, "4716")).toBe("['S']");
    await mine.cancel();
  });

  test("that takes too much memory fails, and its session lives on", async () => {
    await using session = await runtime.openSession({ limits: { memoryBytes: 128 * 1024 * 1024 } });
    await session.execute("kept = 1").result;
    const hog = "import time; x = bytearray(90_000_000); time.sleep(60)";
    const task = runtime.shell(`python3 -c '${hog}' & python3 -c '${hog}'`, { session });
    expect(await task.result).toMatchObject({ status: "failed", why: expect.stringContaining("more memory was used") });
    expect(await valueOf(session, "kept")).toBe("1");
  });

  test("reports the usage of all its processes", async () => {
    const spin = "import time\\nwhile time.process_time() < 0.15: pass";
    const { usage } = await runtime.shell(
      `((python3 -c $'${spin}'; touch spun) &) ; python3 -c 'import time; x = bytearray(50_000_000); time.sleep(0.6)'; until [ -e spun ]; do sleep 0.01; done`,
    ).result;
    expect(usage.cpuMs).toBeGreaterThan(150);
    expect(usage.peakMemoryBytes).toBeGreaterThan(50_000_000);
    expect(usage.peakMemoryBytes).toBeLessThan(200_000_000);
  });
});

describe("a process that a command leaves running", () => {
  test("lives on with the session, prints into the task, and is reported", async () => {
    await using session = await runtime.openSession();
    await runtime.shell("mkfifo fifo", { session }).result;
    const task = runtime.shell("(cat fifo; echo later) & echo started", { session });
    expect(await task.result).toMatchObject({ status: "completed", background: true, stdout: "started\n" });
    await runtime.shell("echo hello > fifo", { session }).result;
    while (task.info().background) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(task.output().bytes.toString()).toBe("started\nhello\nlater\n");
  });

  test("is ended by cancel(), and the task keeps its status", async () => {
    await using session = await runtime.openSession();
    const task = runtime.shell("trap '' TERM; setsid sleep 4717 & exit 4", { session });
    expect(await task.result).toMatchObject({ status: "completed", exitCode: 4, background: true });
    await task.cancel();
    expect(task.info()).toMatchObject({ status: "completed", background: false });
    expect(await processesIn(session, "4717")).toBe("[]");
  });
});

test("closing the runtime ends its tasks", async () => {
  const own = await openTestRuntime();
  const early = own.shell("trap '' TERM; echo up; sleep 4718");
  await printed(early, "up");
  const late = own.shell("sleep 4718", { session: await own.openSession() });
  await own.close();
  for (const task of [early, late]) {
    expect(await task.result).toMatchObject({
      status: "cancelled",
      why: expect.stringContaining("the runtime was closed"),
    });
  }
  expect(() => own.shell("true")).toThrow("the runtime is closed");
});
