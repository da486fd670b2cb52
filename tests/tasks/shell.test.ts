import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, TaskEvent } from "../internals.ts";
import { openTestRuntime, valueOf, workFolderOf } from "../open.ts";
import { printed } from "./observe-task.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("a shell command", () => {
  test("returns its output by stream, its exit code and its usage", async () => {
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

  test("runs in the working directory of its session, with the session's environment variables", async () => {
    await using session = await runtime.openSession({ env: { COLOUR: "red" } });
    const { stdout } = await runtime.shell("pwd; echo $COLOUR $SIZE | tee note.txt", { session, env: { SIZE: "9" } })
      .result;
    expect(stdout).toBe(`${await workFolderOf(session)}\nred 9\n`);
    expect(await valueOf(session, "open('note.txt').read()")).toBe("'red 9\\n'");
  });

  test("starts in its cwd, and fails if that does not exist", async () => {
    await using session = await runtime.openSession();
    await runtime.shell("mkdir -p a/b", { session }).result;
    expect(await runtime.shell("pwd", { session: session.id, cwd: "a/b" }).result).toMatchObject({
      stdout: `${await workFolderOf(session)}/a/b\n`,
    });
    expect(await runtime.shell("pwd", { session, cwd: "nowhere" }).result).toMatchObject({
      status: "failed",
      exitCode: null,
      why: `${await workFolderOf(session)}/nowhere: No such file or directory`,
    });
  });

  test("runs in the files of a fork", async () => {
    await using session = await runtime.openSession();
    await runtime.shell("echo original > whose", { session }).result;
    await using fork = await session.fork();
    await runtime.shell("echo fork > whose", { session: fork }).result;
    expect((await runtime.shell("cat whose", { session }).result).stdout).toBe("original\n");
  });

  test("that cannot be passed to the shell fails with the reason", async () => {
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

  test("that does not exist reports so, and does not fail the task", async () => {
    const result = await runtime.shell("no-such-command").result;
    expect(result).toMatchObject({ status: "completed", exitCode: 127 });
    expect(result.stderr).toContain("no-such-command: command not found");
  });

  test("that kills itself with a signal has the exit code of shells", async () => {
    expect(await runtime.shell("kill -9 $$").result).toMatchObject({ status: "completed", exitCode: 137 });
  });

  test("may be longer than the kernel's limit for one argument", async () => {
    const { stdout } = await runtime.shell(`wc -c <<'END'\n${"x".repeat(300_000)}\nEND\n`).result;
    expect(stdout.trim()).toBe("300001");
  });

  test("runs once, also when nobody awaits it", async () => {
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

  test("of an unknown session is refused with a list of the known ones", () => {
    expect(() => runtime.shell("true", { session: "nobody" })).toThrow("Cannot find session 'nobody'");
  });
});

describe("the input of a shell command", () => {
  test("is empty by default, so that readers end", async () => {
    expect(await runtime.shell("cat; python3 -c 'input()'").result).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("EOFError"),
    });
    await expect(runtime.shell("sleep 0.1").write("x")).rejects.toThrow(
      "its input is closed. Start it with stdin: 'open'",
    );
  });

  test("can be fixed content", async () => {
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

  test("is refused when nobody reads it or too much is unread", async () => {
    const deaf = runtime.shell("exec 0<&-; sleep 4719", { stdin: "open" });
    await expect(deaf.write("x".repeat(200_000))).rejects.toThrow("nobody reads its input any more");
    const busy = runtime.shell("sleep 4719", { stdin: "open" });
    const first = busy.write(Buffer.alloc(65 * 1024 * 1024));
    await expect(busy.write("x")).rejects.toThrow("68157440 bytes wait to be read already");
    const [outcome] = await Promise.allSettled([first, deaf.cancel(), busy.cancel()]);
    expect(outcome).toMatchObject({ status: "rejected", reason: { why: "nobody reads its input any more" } });
  });

  test("may be more than it reads, without preventing pause, resume and end", async () => {
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

describe("the output of a shell command", () => {
  test("is streamed in order, between a start and an end", async () => {
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

  test("can be read by offset, one stream or both in print order", async () => {
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

  test("is truncated in the result and stays readable by offset", async () => {
    const task = runtime.shell("yes | head -c 3000000");
    const { stdout, truncated } = await task.result;
    expect(stdout.length).toBeLessThan(1_100_000);
    expect(truncated).toEqual({ stdout: { total: 3_000_000, omitted: expect.any(Number) } });
    expect(task.output({ offset: 2_999_998 }).bytes.toString()).toBe("y\n");
  });

  test("without end takes limited memory, and ends with the task", async () => {
    await using own = await openTestRuntime({ limits: { readableOutputBytes: 1024 * 1024 } });
    const task = own.shell("yes");
    while (task.output({ length: 0 }).totalBytes < 20 * 1024 * 1024) await task.wait(5);
    expect(task.output({ length: 0 }).readableBytes).toBeLessThanOrEqual(1024 * 1024);
    await task.cancel();
    expect(await task.result).toMatchObject({ status: "cancelled", why: "it was cancelled" });
  });
});
