// Executions, tasks and runs as values: awaitable, iterable, with ids at once, and found again by them.

import {
  ExecutionNotFoundError,
  IdReusedError,
  RunNotFoundError,
  SessionNotFoundError,
  TaskNotFoundError,
} from "../../../errors.ts";
import { check, equal, like, matches, rejects, throws } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { begin, collect, raisesNothing, run, valueOf } from "../drive.ts";

export const WORK: readonly ContractCase[] = [
  {
    name: "an execution is awaited for its result, and has then, catch and finally",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute("6 * 7");
      const result = await execution;
      equal(result.text, "42", "the text of the result");
      equal(await execution, result, "the result, awaited again");
      equal(await execution.then(({ text }) => text), "42", "what then() gives");
      equal(await execution.catch(() => "caught"), result, "what catch() gives");
      let ends = 0;
      equal(await execution.finally(() => void (ends += 1)), result, "what finally() gives");
      equal(ends, 1, "calls of finally's function");
    },
  },
  {
    name: "an async function that returns an execution gives its result",
    async run({ openSession }) {
      const session = await openSession();
      const later = async () => session.execute("'unwrapped'");
      equal((await later()).text, "'unwrapped'", "the text of the result");
    },
  },
  {
    name: "then, catch and finally of work that failed see the error",
    async run({ runtime }) {
      const execution = runtime.executions.get(uniqueId("none"));
      const seen = await execution.then(
        () => "a result",
        (error: unknown) => error,
      );
      check(seen instanceof ExecutionNotFoundError, "then() must pass the error to its second function");
      equal(await execution.catch((error: unknown) => error === seen || "another"), true, "the error, seen by catch()");
      let ends = 0;
      await rejects(
        execution.finally(() => void (ends += 1)),
        ExecutionNotFoundError,
      );
      equal(ends, 1, "calls of finally's function");
    },
  },
  {
    name: "an execution has its id at once, and its result and events have the same",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute("print('x')");
      like(execution.id, /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "an id");
      equal((await execution).executionId, execution.id, "the id in the result");
      for (const event of await collect(execution)) equal(event.executionId, execution.id, "the id in an event");
    },
  },
  {
    name: "work that was refused has an id, too",
    async run({ openSession }) {
      const session = await openSession();
      await session.close();
      const [execution, other] = [session.execute("1"), session.execute("2")];
      like(execution.id, /^[A-Za-z0-9]/, "an id");
      check(execution.id !== other.id, "two executions must not have the same id");
      await Promise.allSettled([execution, other]);
    },
  },
  {
    name: "an execution id that nobody knows is an ExecutionNotFoundError at first use",
    async run({ runtime }) {
      const id = uniqueId("none");
      const execution = runtime.executions.get(id);
      equal(execution.id, id, "the id");
      await rejects(execution, ExecutionNotFoundError, { code: "EXECUTION_NOT_FOUND", executionId: id });
      await rejects(collect(execution), ExecutionNotFoundError);
      await rejects(execution.output(), ExecutionNotFoundError);
      await rejects(execution.cancel(), ExecutionNotFoundError);
    },
  },
  {
    name: "a task id that nobody knows is a TaskNotFoundError at first use",
    async run({ runtime }) {
      const id = uniqueId("none");
      const task = runtime.tasks.get(id);
      equal(task.id, id, "the id");
      await rejects(task, TaskNotFoundError, { code: "TASK_NOT_FOUND", taskId: id });
      await rejects(collect(task), TaskNotFoundError);
      for (const use of [
        () => task.info(),
        () => task.output(),
        () => task.wait(1),
        () => task.cancel(),
        () => task.pause(),
        () => task.resume(),
        () => task.write("x"),
        () => task.closeInput(),
      ])
        await rejects(use(), TaskNotFoundError);
    },
  },
  {
    name: "a run id that nobody knows is a RunNotFoundError at first use",
    async run({ runtime }) {
      const id = uniqueId("none");
      const found = runtime.runs.get(id);
      equal(found.id, id, "the id");
      await rejects(found, RunNotFoundError, { code: "RUN_NOT_FOUND", runId: id });
      await rejects(collect(found), RunNotFoundError);
      await rejects(found.info(), RunNotFoundError);
      await rejects(found.cancel(), RunNotFoundError);
    },
  },
  {
    name: "a failure that nobody looks at raises nothing",
    async run({ runtime, openSession }) {
      const session = await openSession();
      await session.close();
      await raisesNothing(async () => {
        void runtime.executions.get(uniqueId("none"));
        void runtime.tasks.get(uniqueId("none"));
        void runtime.runs.get(uniqueId("none"));
        void session.execute("1");
        void session.shell("true");
        void runtime.shell("true", { session: uniqueId("none") });
        void runtime.execute("1", { signal: AbortSignal.abort() });
        await rejects(runtime.sessions.get(uniqueId("none")), SessionNotFoundError); // time for all to fail
        await runtime.info();
      });
    },
  },
  {
    name: "an execution that nobody awaits runs to its end",
    async run({ openSession }) {
      const session = await openSession();
      void session.execute("seen = 1");
      equal(await valueOf(session, "seen"), "1", "the variable");
    },
  },
  {
    name: "the same execution id is the same work, which runs once",
    async run({ openSession, other }) {
      const session = await openSession();
      await run(session, "count = 0");
      const id = uniqueId("x");
      const code = "count += 1\nprint('once')\ncount";
      const executions = [session.execute(code, { id }), session.execute(code, { id })];
      for (const execution of executions) equal(execution.id, id, "the id");
      const [one, same] = await Promise.all(executions);
      equal(same, one, "the second result");
      equal(await session.execute(code, { id }), one, "the result of a call after its end");
      const elsewhere = await other.sessions.get(session.id);
      equal(await elsewhere.execute(code, { id }), one, "the result of a call from elsewhere");
      equal(await valueOf(session, "count"), "1", "how often it ran");
    },
  },
  {
    name: "other work under the id of an execution is an IdReusedError",
    async run({ openSession }) {
      const [session, another] = [await openSession(), await openSession()];
      const id = uniqueId("x");
      await session.execute("1", { id });
      await rejects(session.execute("2", { id }), IdReusedError, { code: "ID_REUSED", id });
      await rejects(session.execute("1", { id, env: { A: "1" } }), IdReusedError, { id });
      await rejects(another.execute("1", { id }), IdReusedError, { id });
    },
  },
  {
    name: "the same id of a one-off execution is the same work, and other work is an IdReusedError",
    async run({ runtime }) {
      const id = uniqueId("x");
      const code = "import os; os.urandom(8).hex()";
      const [one, same] = await Promise.all([runtime.execute(code, { id }), runtime.execute(code, { id })]);
      equal(same, one, "the second result");
      equal(await runtime.execute(code, { id }), one, "the result of a call after its end");
      await rejects(runtime.execute("1", { id }), IdReusedError, { id });
      await rejects(runtime.execute(code, { id, argv: ["x"] }), IdReusedError, { id });
    },
  },
  {
    name: "the same task id is the same command, which runs once; another is an IdReusedError",
    needs: ["shell"],
    async run({ openSession }) {
      const session = await openSession();
      const id = uniqueId("t");
      const command = "echo ran >> log";
      const tasks = [session.shell(command, { id }), session.shell(command, { id })];
      for (const task of tasks) equal(task.id, id, "the id");
      await Promise.all(tasks);
      matches(await session.shell(command, { id }), { taskId: id, status: "completed" });
      equal((await session.shell("cat log")).stdout, "ran\n", "what the command left");
      await rejects(session.shell("true", { id }), IdReusedError, { code: "ID_REUSED", id });
      await rejects(session.shell(command, { id, env: { A: "1" } }), IdReusedError, { id });
    },
  },
  {
    name: "an execution is found by its id, while it runs and afterwards, with all of its events",
    async run({ openSession, runtime, other }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const found = other.executions.get(execution.id);
      equal(found.id, execution.id, "the id");
      await found.cancel();
      const result = await execution;
      equal(await found, result, "the result");
      equal(await collect(runtime.executions.get(execution.id)), await collect(execution), "the events");
      equal((await found.output()).bytes, (await execution.output()).bytes, "the output");
    },
  },
  {
    name: "an execution is found by its id after its session was closed",
    async run({ openSession, runtime }) {
      const session = await openSession();
      const execution = session.execute("'kept'");
      const result = await execution;
      await session.close();
      equal(await runtime.executions.get(execution.id), result, "the result");
    },
  },
  {
    name: "ids that cannot be used throw at once",
    async run({ openSession, runtime }) {
      const session = await openSession();
      for (const id of ["", "a b", "../x", ".x", "ä", "x".repeat(129)]) {
        throws(() => session.execute("1", { id }), RangeError);
        throws(() => runtime.execute("1", { id }), RangeError);
        throws(() => session.shell("true", { id }), RangeError);
      }
      throws(() => session.execute("1", { id: 1 as never }), TypeError);
      equal(
        (await session.execute("1", { id: `x${"y".repeat(127 - 36)}${crypto.randomUUID()}` })).text,
        "1",
        "the text",
      );
    },
  },
];
