// Shell commands: results, events, input, pauses, cancelling, lists.

import { SessionClosedError, TaskStateError } from "../../../errors.ts";
import { check, equal, like, matches, rejects } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { collect, first, firstOutput, printedBy, run, toBytes, toText } from "../drive.ts";

const FOREVER = "echo begun; while true; do sleep 0.02; done";

export const SHELL: readonly ContractCase[] = [
  {
    name: "a command has a result with its output and exit code",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const task = session.shell("echo out; echo err >&2; exit 3");
      const result = await task;
      equal(
        Object.keys(result).toSorted(),
        [
          "background",
          "durationMs",
          "exitCode",
          "sessionId",
          "status",
          "stderr",
          "stdout",
          "taskId",
          "truncated",
          "usage",
          "why",
        ],
        "the fields",
      );
      matches(result, {
        taskId: task.id,
        sessionId: session.id,
        status: "completed",
        exitCode: 3,
        stdout: "out\n",
        stderr: "err\n",
        truncated: null,
        why: null,
        background: false,
      });
      equal(await task, result, "the result, awaited again");
      equal(await task.finally(() => {}), result, "what finally() gives");
    },
  },
  {
    name: "a command has events from its start to its end, read live, late and twice",
    needs: ["shell"],
    async run({ openSession, other }) {
      const session = await openSession();
      const command = "echo a; sleep 0.05; echo b >&2; sleep 0.05; echo c";
      const task = session.shell(command);
      const events = await collect(task);
      matches(events[0], { type: "task-start", command, sessionId: session.id, taskId: task.id });
      matches(events.at(-1), { type: "task-end", status: "completed", exitCode: 0, why: null });
      equal(
        printedBy(events),
        [
          ["stdout", "a\n"],
          ["stderr", "b\n"],
          ["stdout", "c\n"],
        ],
        "what was printed",
      );
      equal(await collect(task), events, "what a late reader got");
      equal(await collect(other.tasks.get(task.id)), events, "what another got");
    },
  },
  {
    name: "commands and code share the working directory",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "open('a.txt', 'w').write('x\\n')");
      equal((await session.shell("cat a.txt; echo more > b.txt")).stdout, "x\n", "the output");
      equal(toText(await session.files.read("b.txt")), "more\n", "the file");
    },
  },
  {
    name: "a command has its folder and its environment variables",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession({ env: { A: "session" } });
      await session.files.makeFolder("sub folder");
      const result = await session.shell('basename "$PWD"; echo "$A $B"', { cwd: "sub folder", env: { B: "b 'c" } });
      equal(result.stdout, "sub folder\nsession b 'c\n", "the output");
      const failed = await session.shell("pwd", { cwd: "nowhere" });
      matches(failed, { status: "failed", exitCode: null });
      check(failed.why !== null && failed.why !== "", "it must say why");
    },
  },
  {
    name: "a command has no input, a text, bytes, or what is written to it",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      equal((await session.shell("cat")).stdout, "", "without input");
      equal((await session.shell("cat", { stdin: { text: "naïve 🦆" } })).stdout, "naïve 🦆", "with a text");
      const bytes = new Uint8Array([0, 255, 10, 128]);
      equal((await session.shell("od -An -tx1", { stdin: { bytes } })).stdout, " 00 ff 0a 80\n", "with bytes");
      const task = session.shell('while read -r line; do echo "got $line"; done; echo end', { stdin: "open" });
      await task.write("one\n");
      await first(task, (event) => event.type === "output-delta" && event.text.includes("got one"));
      await task.write(toBytes("two\nthree\n"));
      await task.closeInput();
      equal((await task).stdout, "got one\ngot two\ngot three\nend\n", "what it read");
    },
  },
  {
    name: "writing to a command that reads nothing, or has ended, is a TaskStateError",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const task = session.shell(FOREVER);
      await firstOutput(task);
      await rejects(task.write("x"), TaskStateError, { code: "TASK_STATE", taskId: task.id });
      await task.cancel();
      await rejects(task.write("x"), TaskStateError);
      await rejects(task.pause(), TaskStateError);
    },
  },
  {
    name: "cancelling ends a command with all its processes",
    needs: ["shell"],
    async run({ openSession, other }) {
      const session = await openSession();
      const task = session.shell(FOREVER);
      await firstOutput(task);
      await other.tasks.get(task.id).cancel();
      matches(await task, { status: "cancelled", stdout: "begun\n" });
      await task.cancel();
      matches(await task.info(), { status: "cancelled", kind: "shell", id: task.id });
    },
  },
  {
    name: "a signal cancels a command, and one that is aborted before keeps it from starting",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const controller = new AbortController();
      const task = session.shell(FOREVER, { signal: controller.signal });
      await firstOutput(task);
      controller.abort();
      matches(await task, { status: "cancelled" });
      const signal = AbortSignal.abort(new RangeError("enough"));
      await rejects(session.shell("touch ran", { signal }), RangeError, { message: "enough" });
      equal(await session.files.exists("ran"), false, "whether it ran");
    },
  },
  {
    name: "a command that is awaited only is cancelled by its signal, too",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const controller = new AbortController();
      const task = session.shell("touch begun; while true; do sleep 0.02; done", { signal: controller.signal });
      const result = task.then((value) => value);
      while (!(await session.files.exists("begun"))) continue;
      controller.abort();
      matches(await result, { status: "cancelled" });
    },
  },
  {
    name: "a command ends at its time limit",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      matches(await session.shell("echo begun; sleep 600", { timeoutMs: 300 }), {
        status: "timed-out",
        stdout: "begun\n",
      });
      equal((await session.shell("true", { timeoutMs: null })).exitCode, 0, "the exit code without a limit");
    },
  },
  {
    name: "a command is paused and resumed",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const task = session.shell("echo begun; read line; echo $line", { stdin: "open" });
      await firstOutput(task);
      await task.pause();
      equal((await task.info()).status, "paused", "the status");
      await task.resume();
      equal((await task.info()).status, "running", "the status");
      await task.write("done\n");
      equal((await task).stdout, "begun\ndone\n", "the output");
      const types = (await collect(task)).map(({ type }) => type).filter((type) => type.startsWith("task-"));
      equal(types, ["task-start", "task-pause", "task-resume", "task-end"], "the events");
    },
  },
  {
    name: "wait says whether a command ended within the time",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const task = session.shell(FOREVER);
      await firstOutput(task);
      equal(await task.wait(1), false, "whether it ended");
      equal(await task.wait(0), false, "whether it ended by now");
      const controller = new AbortController();
      const waiting = task.wait(600_000, { signal: controller.signal });
      controller.abort(new RangeError("enough"));
      await rejects(waiting, RangeError, { message: "enough" });
      await rejects(task.wait(600_000, { signal: controller.signal }), RangeError);
      equal((await task.info()).status, "running", "the status after the wait was aborted");
      await task.cancel();
      equal(await task.wait(600_000), true, "whether it ended");
    },
  },
  {
    name: "the output of a command is read by offset, while it runs and afterwards",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const task = session.shell("echo begun; read line; echo err >&2", { stdin: "open" });
      await firstOutput(task);
      equal(toText((await task.output()).bytes), "begun\n", "the output so far");
      await task.closeInput();
      await task;
      equal(toText((await task.output({ offset: 3 })).bytes), "un\nerr\n", "both streams");
      const part = await task.output({ stream: "stderr", offset: 1, length: 2 });
      equal([toText(part.bytes), part.nextOffset, part.totalBytes], ["rr", 3, 4], "a part of one stream");
      check(part.bytes.constructor === Uint8Array, "the bytes must be a plain Uint8Array");
    },
  },
  {
    name: "processes that a command leaves behind are in the background, and end with cancel",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const task = session.shell("sleep 600 & echo started");
      matches(await task, { status: "completed", exitCode: 0, background: true });
      await task.cancel();
      equal((await task.info()).background, false, "whether something is in the background");
    },
  },
  {
    name: "tasks are listed in pages, by session and status, in the order of their start",
    needs: ["shell"],
    async run({ openSession, runtime }) {
      const session = await openSession();
      const ended = session.shell("true");
      await ended;
      const running = session.shell(FOREVER);
      await firstOutput(running);
      const list = async (options: object): Promise<readonly string[]> =>
        (await runtime.tasks.list({ sessionId: session.id, ...options })).items.map(({ id }) => id);
      equal(await list({}), [ended.id, running.id], "all of the session");
      equal(await list({ status: "running" }), [running.id], "the running ones");
      equal(await list({ status: "completed" }), [ended.id], "the completed ones");
      const page = await runtime.tasks.list({ sessionId: session.id, limit: 1 });
      equal([page.items.map(({ id }) => id), page.next === null], [[ended.id], false], "the first page");
      equal(await list({ limit: 1, after: page.next }), [running.id], "the second page");
      equal((await runtime.tasks.list({ sessionId: uniqueId("none") })).items, [], "of another session");
      const [info] = (await runtime.tasks.list({ sessionId: session.id })).items;
      matches(info, { kind: "shell", command: "true", status: "completed", sessionId: session.id });
      like(info?.startedAt, /^\d{4}-\d\d-\d\dT.*Z$/, "a time");
      await running.cancel();
    },
  },
  {
    name: "a command without a session uses the one that is named default",
    needs: ["shell"],
    async run({ runtime }) {
      const result = await runtime.shell("echo shared > default.txt; echo done");
      matches(result, { sessionId: "default", stdout: "done\n" });
      await using session = await runtime.sessions.get("default");
      equal(toText(await session.files.read("default.txt")), "shared\n", "the file");
    },
  },
  {
    name: "a command may name its session, or give it",
    needs: ["shell"],
    async run({ openSession, runtime }) {
      const session = await openSession();
      equal((await runtime.shell("true", { session: session.id })).sessionId, session.id, "the session by id");
      equal((await runtime.shell("true", { session })).sessionId, session.id, "the session");
      await session.close();
      await rejects(runtime.shell("true", { session }), SessionClosedError);
    },
  },
  {
    name: "a long output is cut in the result, and counted",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const task = session.shell("head -c 3000000 /dev/zero | tr '\\0' x");
      const cut = (await task).truncated?.stdout;
      check(cut !== undefined && cut.omitted > 0, "it must say what was cut");
      equal(cut.total, 3_000_000, "the size");
      equal((await task.output({ offset: 2_999_990 })).bytes.length, 10, "the end by offset");
    },
  },
];
