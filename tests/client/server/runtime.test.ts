import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Session } from "../../../src/api/session.ts";
import { collect, failureOf } from "../fakes/fake-server.ts";
import { openRemote, type Remote } from "./remote.ts";

let remote: Remote;
beforeAll(async () => {
  remote = await openRemote();
});
afterAll(() => remote[Symbol.asyncDispose]());

async function withSession(use: (session: Session) => Promise<void>): Promise<void> {
  await using session = await remote.runtime.openSession();
  await use(session);
}

describe("sessions", () => {
  test("keep state, and calls reach them in order", () =>
    withSession(async (session) => {
      void session.execute("x = 1");
      void session.set("y", { json: [1, "two", null] });
      void session.execute("z = (x, len(y))");
      const result = await session.execute("print(z); z");
      expect(result).toMatchObject({ status: "ok", stdout: "(1, 3)\n" });
      expect(result.text).toBe("(1, 3)");
      void session.reset();
      expect(await session.execute("x")).toMatchObject({ status: "error", error: { name: "NameError" } });
    }));

  test("many executions at once run in the order of the calls", () =>
    withSession(async (session) => {
      void session.execute("seen = []");
      const all = Array.from({ length: 30 }, (_, index) => session.execute(`seen.append(${index})`));
      await Promise.all(all);
      expect(await session.get("seen")).toEqual(Array.from({ length: 30 }, (_, index) => index));
    }));

  test("describe themselves", () =>
    withSession(async (session) => {
      await session.execute("value = 'text'");
      expect(await session.info()).toMatchObject({ id: session.id, state: "idle", executionCount: 1 });
      expect(await session.history()).toMatchObject([{ code: "value = 'text'", status: "ok" }]);
      expect((await session.variables()).variables.map(({ name }) => name)).toEqual(["value"]);
      expect(await session.inspect("value")).toMatchObject({ type: "str", length: 4 });
      expect(await session.inspect("none")).toBeNull();
      expect((await session.complete("val", 3)).matches).toContainEqual({ text: "value", type: "name" });
      expect(await session.signature("print(", 6)).toMatchObject({ name: "print" });
      const { items } = await remote.runtime.sessions.list({ limit: 1000 });
      expect(items.map(({ id }) => id)).toContain(session.id);
      expect((await remote.runtime.sessions.get(session.id)).id).toBe(session.id);
    }));

  test("values come back as they are", () =>
    withSession(async (session) => {
      await session.set("a", { text: "ä\u2028\ud83d\ude00" });
      await session.set("b", { bytes: Uint8Array.of(0, 255, 10) });
      await session.set("c", { text: "12345678901234567890", as: "json" });
      await session.set("d", { stream: new Blob(["blob"]) });
      expect(await session.get("a", { as: "text" })).toBe("ä\u2028\ud83d\ude00");
      expect(await session.get("b", { as: "bytes" })).toEqual(Uint8Array.of(0, 255, 10));
      expect((await session.execute("c + 1")).text).toBe("12345678901234567891");
      expect((await session.execute("d")).text).toBe("b'blob'");
      expect(await failureOf(session.get("c"))).toMatchObject({ name: "SessionStateError" });
      expect(await failureOf(session.get("nope"))).toMatchObject({ name: "VariableNotFoundError", variable: "nope" });
      expect(await failureOf(session.get("b", { as: "bytes", maxBytes: 2 }))).toMatchObject({
        name: "SessionStateError",
      });
    }));

  test("fork, keep checkpoints and return to them", () =>
    withSession(async (session) => {
      await session.execute("x = 1");
      const checkpoint = await session.checkpoint();
      await session.execute("x = 2");
      await using copy = await session.fork();
      expect(await session.rewind(checkpoint)).toEqual(checkpoint);
      expect(await session.checkpoints()).toEqual([checkpoint]);
      expect([await session.get("x"), await copy.get("x")]).toEqual([1, 2]);
      await session.dropCheckpoint(checkpoint);
      expect(await failureOf(session.rewind(checkpoint))).toMatchObject({
        name: "ForkRefusedError",
        code: "FORK_REFUSED",
      });
      expect(await failureOf(session.undo())).toMatchObject({ name: "ForkRefusedError" });
    }));

  test("are interrupted while operations wait", () =>
    withSession(async (session) => {
      const running = session.execute("import time\nwhile True: time.sleep(1)", { timeoutMs: null });
      const setting = session.set("x", { json: 1 });
      for await (const event of running) if (event.type === "execution-start") break;
      expect(await session.interrupt()).toBe(running.id);
      expect(await running).toMatchObject({ status: "interrupted", reason: "cancelled" });
      await setting;
      expect(await session.interrupt()).toBeNull();
    }));

  test("closed by two clients end once, with the same statistics", async () => {
    const other = await remote.connect();
    const session = await remote.runtime.openSession();
    const same = await other.sessions.get(session.id);
    await session.execute("1");
    const [first, second] = await Promise.all([session.close(), same.close()]);
    expect(first).toMatchObject({ id: session.id, executionCount: 1, state: "closed" });
    expect(second).toEqual(first);
    expect(await failureOf(session.execute("1"))).toMatchObject({ name: "SessionClosedError", sessionId: session.id });
    expect(await failureOf(session.files.read("x"))).toMatchObject({ name: "SessionClosedError" });
    await other.close();
  });

  test("that never were are not found", async () => {
    expect(await failureOf(remote.runtime.sessions.get("nope"))).toMatchObject({
      name: "SessionNotFoundError",
      sessionId: "nope",
    });
    expect(
      await failureOf(
        remote.runtime.openSession({ id: "twice" }).then(() => remote.runtime.openSession({ id: "twice" })),
      ),
    ).toMatchObject({ name: "SessionExistsError", sessionId: "twice" });
    await (await remote.runtime.sessions.get("twice")).close();
  });
});

describe("executions", () => {
  test("stream their events, also late and by id", () =>
    withSession(async (session) => {
      const execution = session.execute("print('a')\nimport sys\nprint('b', file=sys.stderr)\n40 + 2");
      const events = await collect(execution);
      expect(events.map(({ type }) => type)).toEqual([
        "execution-start",
        "output-delta",
        "output-delta",
        "execution-end",
      ]);
      const found = remote.runtime.executions.get(execution.id);
      expect(await collect(found)).toEqual(events);
      expect({ ...(await found) }).toEqual({ ...(await execution) });
      expect(new TextDecoder().decode((await found.output({ stream: "stderr" })).bytes)).toBe("b\n");
      expect(await session.output(execution.id, { stream: "stdout" })).toMatchObject({
        offset: 0,
        nextOffset: 2,
        totalBytes: 2,
      });
    }));

  test("answer input", () =>
    withSession(async (session) => {
      const prompts: string[] = [];
      const result = await session.execute("first = input('a? ')\nprint(first + input('b? '))", {
        onInput: ({ prompt }) => {
          prompts.push(prompt);
          return prompt.slice(0, 1).toUpperCase();
        },
      });
      expect(result.stdout.endsWith("AB\n")).toBe(true);
      expect(prompts).toEqual(["a? ", "b? "]);
    }));

  test("end when their signal is aborted", () =>
    withSession(async (session) => {
      const controller = new AbortController();
      const execution = session.execute("print('on', flush=True)\nwhile True: pass", { signal: controller.signal });
      for await (const event of execution) if (event.type === "output-delta") controller.abort();
      expect(await execution).toMatchObject({ status: "interrupted", reason: "cancelled" });
    }));

  test("run once in a session of their own", async () => {
    const execution = remote.runtime.execute("import os; print(os.environ['A'], 5)", { env: { A: "b" } });
    expect((await execution).stdout).toBe("b 5\n");
    expect((await collect(execution)).at(-1)?.type).toBe("execution-end");
  });

  test("that have an id run once, whoever asks", () =>
    withSession(async (session) => {
      await session.execute("count = 0");
      const both = [session.execute("count += 1", { id: "mine.1" }), session.execute("count += 1", { id: "mine.1" })];
      await Promise.all(both);
      expect(await session.get("count")).toBe(1);
      expect(await failureOf(session.execute("count += 2", { id: "mine.1" }))).toMatchObject({
        name: "IdReusedError",
        id: "mine.1",
      });
    }));

  test("that are not there are not found", async () => {
    expect(await failureOf(remote.runtime.executions.get("x-nope"))).toMatchObject({ name: "ExecutionNotFoundError" });
    expect(await failureOf(collect(remote.runtime.executions.get("x-nope")))).toMatchObject({
      name: "ExecutionNotFoundError",
    });
  });
});

describe("tasks", () => {
  test("run commands", () =>
    withSession(async (session) => {
      const task = session.shell("echo $A; cat; exit 3", {
        env: { A: "b" },
        stdin: { bytes: Uint8Array.of(104, 105) },
      });
      expect(await task).toMatchObject({ status: "completed", exitCode: 3, stdout: "b\nhi", taskId: task.id });
      const types = (await collect(task)).map(({ type }) => type);
      expect([types[0], types.at(-1)]).toEqual(["task-start", "task-end"]);
      expect(await task.info()).toMatchObject({ id: task.id, kind: "shell", status: "completed" });
      expect((await remote.runtime.tasks.list({ sessionId: session.id })).items).toMatchObject([{ id: task.id }]);
      expect(await remote.runtime.tasks.get(task.id)).toEqual(await task);
    }));

  test("take input in the order in which it is written", () =>
    withSession(async (session) => {
      const task = session.shell("cat", { stdin: "open" });
      for (let index = 0; index < 10; index += 1) void task.write(`${index},`);
      void task.write(Uint8Array.of(33));
      await task.closeInput();
      expect((await task).stdout).toBe("0,1,2,3,4,5,6,7,8,9,!");
      expect(await failureOf(task.write("more"))).toMatchObject({ name: "TaskStateError" });
    }));

  test("are paused, resumed, waited for and cancelled", () =>
    withSession(async (session) => {
      const task = session.shell("sleep 1000");
      await task.pause();
      expect((await task.info()).status).toBe("paused");
      await task.resume();
      expect(await task.wait(1)).toBe(false);
      await task.cancel();
      expect(await task.wait(60_000)).toBe(true);
      expect(await task).toMatchObject({ status: "cancelled" });
      expect(await failureOf(task.pause())).toMatchObject({ name: "TaskStateError", taskId: task.id });
    }));

  test("that are not there are not found", async () => {
    expect(await failureOf(remote.runtime.tasks.get("t-nope"))).toMatchObject({ name: "TaskNotFoundError" });
  });
});

describe("the rest", () => {
  test("versions, the standard library, pages", async () => {
    expect(await remote.runtime.info()).toMatchObject({ environment: "local" });
    expect(await remote.runtime.stdlib.list()).toMatchObject({ functions: expect.any(Array) as unknown });
    expect(await failureOf(remote.runtime.stdlib.add("def"))).toMatchObject({ name: "StdlibError" });
    const first = await remote.runtime.openSession();
    const second = await remote.runtime.openSession();
    const page = await remote.runtime.sessions.list({ limit: 1 });
    expect(page.items).toHaveLength(1);
    expect(page.next).toEqual(expect.any(String));
    const next = await remote.runtime.sessions.list({ limit: 1, after: page.next ?? "" });
    expect(next.items[0]?.id).not.toBe(page.items[0]?.id);
    await Promise.all([first.close(), second.close()]);
    expect(await failureOf(remote.runtime.sessions.list({ after: "nonsense!" }))).toBeInstanceOf(RangeError);
  });

  test("runs without a model are refused, and schemas are converted", async () => {
    const run = remote.runtime.rlm().run({ query: "?", schema: z.object({ a: z.number() }) });
    expect(await failureOf(run)).toMatchObject({ name: "ServerRefusedError", problem: "NO_MODEL" });
    expect(await failureOf(remote.runtime.runs.get("r-nope"))).toMatchObject({ name: "RunNotFoundError" });
    expect((await remote.runtime.runs.list()).next).toBeNull();
  });
});
