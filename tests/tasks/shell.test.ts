import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session, ShellTask, TaskEvent } from "../../src/index.ts";
import { openTestRuntime, valueOf } from "../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

/** Resolves when the task has printed this. */
async function printed(task: ShellTask, text: string): Promise<void> {
  let seen = "";
  for await (const event of task) {
    if (event.type === "output-delta") seen += event.text;
    if (seen.includes(text)) return;
  }
  throw new Error(`it ended without: ${seen}`);
}

/** Processes inside the session's sandbox whose command line has this in it. */
async function processesIn(session: Session, word: string): Promise<string> {
  const code = `
import os
def command(pid):
    try:
        return open(f"/proc/{pid}/cmdline").read().split("\\0"), open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
    except OSError:
        return [], "X"
sorted(state for words, state in (command(pid) for pid in os.listdir("/proc") if pid.isdigit()) if ${JSON.stringify(word)} in words and state not in "ZX")`;
  return (await valueOf(session, code)) ?? "";
}

describe("a command", () => {
  test("gives what it printed on each stream, its exit code, and what it used", async () => {
    const task = runtime.shell("echo out; echo err >&2; exit 3");
    expect(await task.result).toEqual({
      taskId: task.id,
      sessionId: "default",
      status: "completed",
      stdout: "out\n",
      stderr: "err\n",
      exitCode: 3,
      why: null,
      truncated: null,
      background: false,
      durationMs: expect.any(Number),
      usage: { cpuMs: expect.any(Number), peakMemoryBytes: expect.any(Number) },
    });
  });

  test("runs in the working directory of its session, with the session's variables, and leaves its files there", async () => {
    await using session = await runtime.openSession({ env: { COLOUR: "red" } });
    const { stdout } = await runtime.shell("pwd; echo $COLOUR $SIZE | tee note.txt", { session, env: { SIZE: "9" } })
      .result;
    expect(stdout).toBe("/work\nred 9\n");
    expect(await valueOf(session, "open('note.txt').read()")).toBe("'red 9\\n'");
  });

  test("starts in a folder that it names, and fails where there is none", async () => {
    await using session = await runtime.openSession();
    await runtime.shell("mkdir -p a/b", { session }).result;
    expect(await runtime.shell("pwd", { session: session.id, cwd: "a/b" }).result).toMatchObject({
      stdout: "/work/a/b\n",
    });
    expect(await runtime.shell("pwd", { session, cwd: "nowhere" }).result).toMatchObject({
      status: "failed",
      exitCode: null,
      why: "/work/nowhere: No such file or directory",
    });
  });

  test("in a fork runs in the fork's files", async () => {
    await using session = await runtime.openSession();
    await runtime.shell("echo original > whose", { session }).result;
    await using fork = await session.fork();
    await runtime.shell("echo fork > whose", { session: fork }).result;
    expect((await runtime.shell("cat whose", { session }).result).stdout).toBe("original\n");
  });

  test("that cannot be given to the shell fails, and says why", async () => {
    expect(await runtime.shell("true", { env: { A: "\ud800" } }).result).toMatchObject({
      status: "failed",
      why: expect.stringContaining("surrogate"),
    });
    const env = { A: "x".repeat(9_000_000) };
    expect(await runtime.shell("true", { env }).result).toMatchObject({
      status: "failed",
      why: expect.stringContaining("too long"),
    });
  });

  test("that does not exist says so, and is no failure of ours", async () => {
    const result = await runtime.shell("no-such-command").result;
    expect(result).toMatchObject({ status: "completed", exitCode: 127 });
    expect(result.stderr).toContain("no-such-command: command not found");
  });

  test("that is killed by a signal of its own has the exit code that shells give", async () => {
    expect(await runtime.shell("kill -9 $$").result).toMatchObject({ status: "completed", exitCode: 137 });
  });

  test("may be longer than the kernel takes as an argument", async () => {
    const { stdout } = await runtime.shell(`wc -c <<'END'\n${"x".repeat(300_000)}\nEND\n`).result;
    expect(stdout.trim()).toBe("300001");
  });

  test("runs once, also when nobody waits for it any more", async () => {
    await using session = await runtime.openSession();
    const task = runtime.shell("echo once >> ran; read line; echo done >> ran", { session, stdin: "open" });
    expect(await task.wait(20)).toBe(false);
    expect(await task.wait(20)).toBe(false);
    await task.write("go\n");
    await task.result;
    expect((await runtime.shell("cat ran", { session }).result).stdout).toBe("once\ndone\n");
  });

  test.each([
    ["an empty command", "  ", {}, RangeError],
    ["NUL characters", "echo \0", {}, TypeError],
    ["more than a mebibyte", "#".repeat(1024 * 1024 + 1), {}, RangeError],
    ["a time limit that is none", "true", { timeoutMs: -1 }, RangeError],
    ["half of a character", "echo \ud800", {}, TypeError],
    ["an input that is none", "true", { stdin: "closed" as "none" }, TypeError],
    ["an input that is no text", "true", { stdin: { text: 5 as unknown as string } }, TypeError],
    ["a folder with NUL", "true", { cwd: "a\0" }, TypeError],
    ["a variable with NUL", "true", { env: { A: "\0" } }, TypeError],
  ])("is refused at once for %s", (_, command, options, error) => {
    const before = runtime.tasks.list().length;
    expect(() => runtime.shell(command, options)).toThrow(error);
    expect(runtime.tasks.list().length).toBe(before);
  });

  test("of a session that does not exist is refused with those that do", () => {
    expect(() => runtime.shell("true", { session: "nobody" })).toThrow("Cannot find session 'nobody'");
  });
});

describe("the input of a command", () => {
  test("is empty unless it is asked for: what reads it ends", async () => {
    expect(await runtime.shell("cat; python3 -c 'input()'").result).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("EOFError"),
    });
    await expect(runtime.shell("sleep 0.1").write("x")).rejects.toThrow(
      "its input is closed. Start it with stdin: 'open'",
    );
  });

  test("can be given whole", async () => {
    const bytes = Buffer.alloc(300_000, 7);
    expect(await runtime.shell("cat", { stdin: { text: "häl\nlo" } }).result).toMatchObject({ stdout: "häl\nlo" });
    expect((await runtime.shell("wc -c", { stdin: { bytes } }).result).stdout.trim()).toBe("300000");
  });

  test("can be written while it runs, and ended", async () => {
    const task = runtime.shell("while read line; do echo got $line; done; echo end", { stdin: "open" });
    await task.write("one\n");
    await printed(task, "got one");
    await task.write("two\n");
    task.closeInput();
    expect((await task.result).stdout).toBe("got one\ngot two\nend\n");
    await expect(task.write("three\n")).rejects.toThrow(/it has ended/);
  });

  test("that nobody reads is refused, in the end or when too much waits", async () => {
    const deaf = runtime.shell("exec 0<&-; sleep 4719", { stdin: "open" });
    await expect(deaf.write("x".repeat(200_000))).rejects.toThrow("nobody reads its input any more");
    const busy = runtime.shell("sleep 4719", { stdin: "open" });
    const first = busy.write(Buffer.alloc(65 * 1024 * 1024));
    await expect(busy.write("x")).rejects.toThrow("68157440 bytes wait to be read already");
    const [outcome] = await Promise.allSettled([first, deaf.cancel(), busy.cancel()]);
    expect(outcome).toMatchObject({ status: "rejected", reason: { why: "nobody reads its input any more" } });
  });

  test("may be more than it reads: it is paused, resumed and ended all the same", async () => {
    const bytes = Buffer.alloc(10_000_000);
    expect(await runtime.shell("true", { stdin: { bytes } }).result).toMatchObject({
      status: "completed",
      exitCode: 0,
    });
    const task = runtime.shell("sleep 4720", { stdin: { bytes } });
    await task.pause();
    await task.resume();
    await task.cancel();
    expect(task.status).toBe("cancelled");
  });
});

describe("what a command prints", () => {
  test("is told while it runs, in order, with a start and an end", async () => {
    const task = runtime.shell("echo a; echo b >&2; read line; echo c", { stdin: "open" });
    const events: TaskEvent[] = [];
    for await (const event of task) {
      events.push(event);
      if (event.type === "output-delta" && event.stream === "stderr") await task.write("\n");
    }
    expect(events[0]).toMatchObject({ type: "task-start", command: task.command, seq: 0 });
    expect(events.at(-1)).toMatchObject({ type: "task-end", status: "completed", exitCode: 0 });
    expect(events.flatMap((event) => (event.type === "output-delta" ? [event.text] : [])).toSorted()).toEqual([
      "a\n",
      "b\n",
      "c\n",
    ]);
  });

  test("can be read by offset, of both streams in the order in which it came or of one", async () => {
    const task = runtime.shell("echo 1; read l; echo 2 >&2; read l; echo 3", { stdin: "open" });
    await printed(task, "1");
    await task.write("\n");
    await printed(task, "2");
    await task.write("\n");
    await task.result;
    expect(task.output().bytes.toString()).toBe("1\n2\n3\n");
    expect(task.output({ offset: 3, length: 2 })).toMatchObject({ nextOffset: 5, totalBytes: 6, readableBytes: 6 });
    expect(task.output({ offset: 3, length: 2 }).bytes.toString()).toBe("\n3");
    expect(task.output({ stream: "stderr" }).bytes.toString()).toBe("2\n");
    expect(task.lastLine()).toBe("3");
  });

  test("is cut in the result and stays readable where it is much", async () => {
    const task = runtime.shell("yes | head -c 3000000");
    const { stdout, truncated } = await task.result;
    expect(stdout.length).toBeLessThan(1_100_000);
    expect(truncated).toEqual({ stdout: { total: 3_000_000, omitted: expect.any(Number) } });
    expect(task.output({ offset: 2_999_998 }).bytes.toString()).toBe("y\n");
  });

  test("without end does not grow the host, and ends with the task", async () => {
    await using own = await openTestRuntime({ limits: { readableOutputBytes: 1024 * 1024 } });
    const task = own.shell("yes");
    while (task.output({ length: 0 }).totalBytes < 20 * 1024 * 1024) await task.wait(5);
    expect(task.output({ length: 0 }).readableBytes).toBeLessThanOrEqual(1024 * 1024);
    await task.cancel();
    expect(await task.result).toMatchObject({ status: "cancelled", why: "it was cancelled" });
  });
});

describe("a running command", () => {
  const DAEMON = "setsid bash -c '(sleep 4711 &) ; sleep 4711' & ";

  test("is cancelled with everything it started, what hides and what will not listen included", async () => {
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

  test("stands still while it is paused, with everything it started, and goes on after that", async () => {
    await using session = await runtime.openSession();
    const task = runtime.shell(`${DAEMON} while true; do echo tick; sleep 0.01; done`, { session });
    await printed(task, "tick");
    while ((await processesIn(session, "4711")) !== "['S', 'S']") await task.wait(5);
    await task.pause();
    expect(task.status).toBe("paused");
    expect(await processesIn(session, "4711")).toBe("['T', 'T']");
    const { totalBytes } = task.output({ length: 0 });
    expect(await task.wait(100)).toBe(false);
    expect(task.output({ length: 0 }).totalBytes).toBe(totalBytes);
    await task.resume();
    expect(task.status).toBe("running");
    while (task.output({ length: 0 }).totalBytes === totalBytes) await task.wait(5);
    await task.pause();
    await task.cancel();
    expect(await processesIn(session, "4711")).toBe("[]");
    await expect(task.pause()).rejects.toThrow("it has ended");
  });

  test("is paused and ended in its very first moments", async () => {
    await using session = await runtime.openSession();
    const tasks = Array.from({ length: 12 }, () => runtime.shell("(setsid sleep 4719 &) ; sleep 4719", { session }));
    await Promise.all(tasks.filter((_, index) => index % 2 === 0).map((task) => task.pause()));
    await Promise.all(tasks.map((task) => task.cancel()));
    expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => "cancelled"));
    expect(await processesIn(session, "4719")).toBe("[]");
  });

  test("is ended by its time limit, in which pauses do not count", async () => {
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

  test("that is cancelled gives what it started time to end, although its shell ends at once", async () => {
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

  test("goes on when an execution of its session is interrupted, or its worker is lost, or reset", async () => {
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

  test("ends with its session, and says why", async () => {
    const session = await runtime.openSession({ id: "short" });
    const task = runtime.shell(`${DAEMON} sleep 4714`, { session });
    await task.wait(20);
    await session.close();
    expect(await task.result).toMatchObject({ status: "cancelled", why: "session 'short' ended: it was closed" });
  });

  test("of a fork ends with the fork; those of its family go on", async () => {
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

  test("that takes too much memory fails; its session lives", async () => {
    await using session = await runtime.openSession({ limits: { memoryBytes: 128 * 1024 * 1024 } });
    await session.execute("kept = 1").result;
    const hog = "import time; x = bytearray(90_000_000); time.sleep(60)";
    const task = runtime.shell(`python3 -c '${hog}' & python3 -c '${hog}'`, { session });
    expect(await task.result).toMatchObject({ status: "failed", why: expect.stringContaining("more memory was used") });
    expect(await valueOf(session, "kept")).toBe("1");
  });

  test("reports what all its processes used", async () => {
    const spin = "import time\\nwhile time.process_time() < 0.15: pass";
    const { usage } = await runtime.shell(
      `(python3 -c $'${spin}' &) ; python3 -c 'import time; x = bytearray(50_000_000); time.sleep(0.6)'`,
    ).result;
    expect(usage.cpuMs).toBeGreaterThan(150);
    expect(usage.peakMemoryBytes).toBeGreaterThan(50_000_000);
    expect(usage.peakMemoryBytes).toBeLessThan(200_000_000);
  });
});

describe("what a command leaves running", () => {
  test("lives on with the session, prints into the task, and is said to be there", async () => {
    await using session = await runtime.openSession();
    await runtime.shell("mkfifo fifo", { session }).result;
    const task = runtime.shell("(cat fifo; echo later) & echo started", { session });
    expect(await task.result).toMatchObject({ status: "completed", background: true, stdout: "started\n" });
    await runtime.shell("echo hello > fifo", { session }).result;
    while (task.info().background) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(task.output().bytes.toString()).toBe("started\nhello\nlater\n");
  });

  test("is ended by cancel, and the task stays what it was", async () => {
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
