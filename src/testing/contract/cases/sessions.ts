// Sessions: how they are opened, found, listed, reset and closed.

import {
  EnvironmentUnavailableError,
  RLMError,
  SessionClosedError,
  SessionExistsError,
  SessionNotFoundError,
} from "../../../errors.ts";
import { check, equal, like, matches, rejects } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { begin, collect, nextTurn, run, valueOf } from "../drive.ts";

export const SESSIONS: readonly ContractCase[] = [
  {
    name: "a session keeps its state between executions, and sessions share nothing",
    async run({ openSession }) {
      const [session, another] = [await openSession(), await openSession()];
      await run(session, "x = 1");
      equal(await valueOf(session, "x"), "1", "the variable");
      equal(await valueOf(another, "'x' in globals()"), "False", "whether another session sees it");
    },
  },
  {
    name: "a session has the id that was given, or a generated one",
    async run({ openSession }) {
      const id = uniqueId("s");
      const session = await openSession({ id });
      equal([session.id, (await session.info()).id], [id, id], "the ids");
      like((await openSession()).id, /^[A-Za-z0-9]/, "a generated id");
    },
  },
  {
    name: "an id that is taken is a SessionExistsError, and free again after the end",
    async run({ openSession, runtime }) {
      const id = uniqueId("s");
      const session = await openSession({ id });
      await run(session, "x = 1");
      await rejects(runtime.openSession({ id }), SessionExistsError, { code: "SESSION_EXISTS", sessionId: id });
      equal(await valueOf(session, "x"), "1", "the variable of the first one");
      await session.close();
      const next = await openSession({ id });
      equal(await valueOf(next, "'x' in globals()"), "False", "whether the state is there");
      await rejects(session.execute("1"), SessionClosedError);
    },
  },
  {
    name: "a session that has ended stays so when another one takes its id",
    async run({ openSession, other, runtime, capabilities }) {
      const id = uniqueId("s");
      const [session, closedHere] = [await openSession({ id }), await openSession()];
      const before = await closedHere.close();
      await (await other.sessions.get(id)).close();
      const next = await openSession({ id });
      await run(next, "x = 1");
      const closed = { code: "SESSION_CLOSED", sessionId: id };
      for (const use of [
        () => session.execute("x"),
        () => session.get("x"),
        () => session.set("x", { json: 2 }),
        () => session.reset(),
        () => session.variables(),
        () => session.files.write("a", "b"),
        () => session.files.read("a"),
      ])
        await rejects(use(), SessionClosedError, closed);
      if (capabilities.shell) {
        await rejects(session.shell("true"), SessionClosedError, closed);
        await rejects(runtime.shell("true", { session }), SessionClosedError, closed);
      }
      equal(await closedHere.close(), before, "the statistics, asked for again");
      equal(await valueOf(next, "x"), "1", "the variable of the one that has the id");
      equal((await next.files.list()).entries, [], "its files");
    },
  },
  {
    name: "a session that nobody knows is a SessionNotFoundError",
    async run({ runtime }) {
      const id = uniqueId("none");
      const error = await rejects(runtime.sessions.get(id), SessionNotFoundError, {
        code: "SESSION_NOT_FOUND",
        sessionId: id,
      });
      check(error instanceof RLMError, "errors of the work must extend RLMError");
      await rejects(runtime.shell("true", { session: id }), SessionNotFoundError, { sessionId: id });
    },
  },
  {
    name: "a session is found by its id, with the same state",
    async run({ openSession, other }) {
      const session = await openSession();
      const found = await other.sessions.get(session.id);
      equal(found.id, session.id, "the id");
      await run(found, "x = 1");
      equal(await valueOf(session, "x"), "1", "the variable");
    },
  },
  {
    name: "an environment that does not exist is an EnvironmentUnavailableError",
    async run({ runtime }) {
      const environment = "no-such-environment";
      await rejects(runtime.openSession({ environment }), EnvironmentUnavailableError, { environment });
    },
  },
  {
    name: "a session may name its environment",
    async run({ openSession, runtime }) {
      const { environment } = await runtime.info();
      const session = await openSession({ environment });
      equal((await session.info()).environment, environment, "the environment");
    },
  },
  {
    name: "environment variables, arguments and the working directory are those of the options",
    async run({ openSession }) {
      const session = await openSession({ env: { GREETING: "hälló" }, argv: ["prog", "--x", ""], cwd: "/tmp" });
      equal(
        await valueOf(session, "import os, sys; os.environ['GREETING'], sys.argv, os.getcwd()"),
        "('hälló', ['prog', '--x', ''], '/tmp')",
        "what the code sees",
      );
      equal(await valueOf(await openSession(), "import sys; sys.argv"), "['']", "the arguments by default");
    },
  },
  {
    name: "a limit of a session replaces that of the runtime",
    needs: ["resource"],
    async run({ openSession }) {
      const session = await openSession({ limits: { openFiles: 100 } });
      equal(
        await valueOf(session, "import resource; resource.getrlimit(resource.RLIMIT_NOFILE)[0]"),
        "100",
        "the limit",
      );
    },
  },
  {
    name: "a session ends when it was idle for its time, and says why",
    async run({ openSession, runtime }) {
      const session = await openSession({ idleTimeoutMs: 200 });
      const isListed = async (): Promise<boolean> =>
        (await runtime.sessions.list({ limit: 1000 })).items.some(({ id }) => id === session.id);
      while (await isListed()) await nextTurn();
      const fields = { code: "SESSION_CLOSED", sessionId: session.id };
      const error = await rejects(session.execute("1"), SessionClosedError, fields);
      like(error.message, /idle/, "the message");
      await rejects(runtime.sessions.get(session.id), SessionNotFoundError, { sessionId: session.id });
    },
  },
  {
    name: "a session does not expire while code runs, nor with null as its time",
    async run({ openSession }) {
      const never = await openSession({ idleTimeoutMs: null });
      const session = await openSession({ idleTimeoutMs: 300 });
      equal(await valueOf(session, "import time; time.sleep(0.7); 'alive'"), "'alive'", "the value");
      equal((await never.info()).state, "idle", "the state");
    },
  },
  {
    name: "close ends the session and resolves to its final statistics",
    async run({ openSession, runtime }) {
      const session = await openSession();
      await run(session, "x, _hidden = 1, 2");
      const info = await session.close();
      matches(info, { id: session.id, state: "closed", executionCount: 1, variableCount: 1, variables: ["x"] });
      const { items } = await runtime.sessions.list();
      check(!items.some(({ id }) => id === session.id), "it must not be listed");
    },
  },
  {
    name: "close is idempotent, also from two handles and at once",
    async run({ openSession, other }) {
      const session = await openSession();
      const elsewhere = await other.sessions.get(session.id);
      const [one, two] = await Promise.all([session.close(), session.close()]);
      equal(two, one, "the second statistics");
      equal(await elsewhere.close(), one, "the statistics from elsewhere");
      equal(await session.close(), one, "the statistics later");
      await session[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  },
  {
    name: "await using closes the session",
    async run({ openSession, other }) {
      const session = await openSession();
      const elsewhere = await other.sessions.get(session.id);
      await session[Symbol.asyncDispose]();
      await rejects(session.execute("1"), SessionClosedError);
      await rejects(elsewhere.execute("1"), SessionClosedError);
    },
  },
  {
    name: "everything that is asked of a closed session rejects with a SessionClosedError",
    async run({ openSession, capabilities }) {
      const session = await openSession();
      const execution = session.execute("print(1)");
      await execution;
      await session.close();
      const uses: readonly (() => PromiseLike<unknown>)[] = [
        () => session.execute("1"),
        () => collect(session.execute("1")),
        () => session.interrupt(),
        () => session.reset(),
        () => session.history(),
        () => session.output(execution.id),
        () => session.output("unknown"),
        () => session.variables(),
        () => session.inspect("x"),
        () => session.get("x"),
        () => session.set("x", { json: 1 }),
        () => session.set("x", { stream: new Blob(["x"]) }),
        () => session.complete("x", 1),
        () => session.signature("f(", 2),
        () => session.files.read("x"),
        () => session.files.write("x", "y"),
        () => session.files.list(),
        () => session.files.exists("x"),
        () => collect(session.files.readStream("x")),
        () => session.files.watch(),
        ...(capabilities.shell ? [() => session.shell("true")] : []),
        ...(capabilities.fork ? [() => session.fork()] : []),
        ...(capabilities.checkpoint ? [() => session.checkpoint(), () => session.undo()] : []),
        ...(capabilities.checkpoint ? [() => session.rewind("c"), () => session.dropCheckpoint("c")] : []),
        () => session.checkpoints(),
      ];
      for (const use of uses) {
        await rejects(use(), SessionClosedError, { code: "SESSION_CLOSED", sessionId: session.id }).catch(
          (error: Error) => {
            throw new Error(`${String(use)}: ${error.message}`, { cause: error });
          },
        );
      }
    },
  },
  {
    name: "info of a closed session has its final statistics, for every handle",
    async run({ openSession, other }) {
      const session = await openSession();
      const elsewhere = await other.sessions.get(session.id);
      await run(session, "x = 1");
      const last = await session.close();
      equal(last.state, "closed", "the state");
      equal(await session.info(), last, "the statistics");
      equal(await elsewhere.info(), last, "the statistics from elsewhere");
    },
  },
  {
    name: "closing ends what runs and what waits, as cancelled",
    async run({ openSession }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const queued = session.execute("1");
      await session.info();
      await session.close();
      matches(await execution, { status: "interrupted", reason: "cancelled", stdout: "begun\n" });
      matches(await queued, { status: "interrupted", reason: "cancelled" });
    },
  },
  {
    name: "reset clears the namespace and the history, and keeps id, files and count",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = 1; open('kept.txt', 'w').close()");
      const before = await session.info();
      await session.reset();
      const after = await session.info();
      equal([after.variables, after.executionCount, await session.history()], [[], 1, []], "what a reset leaves");
      check(after.epoch > before.epoch, "a new epoch must begin");
      equal(await session.files.exists("kept.txt"), true, "whether the file is there");
      equal(await valueOf(session, "'x' in globals()"), "False", "whether the variable is there");
    },
  },
  {
    name: "info has the statistics of a session",
    async run({ openSession }) {
      const session = await openSession({ includeStdlib: false });
      matches(await session.info(), { lastExecutedAt: null, executionCount: 0, waiting: 0, state: "idle" });
      await run(session, "b = 1; a = 2; _c = 3");
      const info = await session.info();
      equal([info.variableCount, [...info.variables].toSorted()], [2, ["a", "b"]], "the variables");
      like(info.createdAt, /^\d{4}-\d\d-\d\dT.*Z$/, "a time");
      like(info.lastExecutedAt, /^\d{4}-\d\d-\d\dT.*Z$/, "a time");
      equal(info.stdlib.error, null, "what the standard library raised");
    },
  },
  {
    name: "info says when an idle session closes",
    async run({ openSession }) {
      const never = await openSession({ idleTimeoutMs: null });
      matches(await never.info(), { idleTimeoutMs: null, expiresAt: null });
      const session = await openSession({ idleTimeoutMs: 3_600_000 });
      const before = Date.now();
      await run(session, "1");
      const { idleTimeoutMs, expiresAt } = await session.info();
      equal(idleTimeoutMs, 3_600_000, "the idle time");
      const leftMs = Date.parse(expiresAt ?? "") - before;
      check(leftMs >= 3_600_000 && leftMs < 3_700_000, `it must close an hour after its last use, not in ${leftMs} ms`);
      const { execution } = await begin(session);
      equal((await session.info()).expiresAt, null, "when it closes while code runs");
      await execution.cancel();
      matches(await session.close(), { expiresAt: null });
    },
  },
  {
    name: "sessions are listed in pages, the oldest first",
    async run({ openSession, runtime }) {
      const opened = [await openSession(), await openSession(), await openSession()].map(({ id }) => id);
      const all = (await runtime.sessions.list()).items.map(({ id }) => id);
      equal(all.filter((id) => opened.includes(id)).toSorted(), opened.toSorted(), "the ids in the list");
      const paged: string[] = [];
      let after: string | null | undefined;
      do {
        const page = await runtime.sessions.list({ limit: 1, ...(after ? { after } : {}) });
        check(page.items.length <= 1, "a page must not be longer than its limit");
        paged.push(...page.items.map(({ id }) => id));
        after = page.next;
      } while (after !== null);
      equal(paged, all, "the pages together");
      const times = (await runtime.sessions.list()).items.map(({ createdAt }) => createdAt);
      equal(times, times.toSorted(), "the times");
    },
  },
  {
    name: "history has the executions, the oldest first",
    async run({ openSession }) {
      const session = await openSession();
      const executions = [
        session.execute("a = 1"),
        session.execute("1 / 0"),
        session.execute("import sys; sys.exit()"),
      ];
      await Promise.all(executions);
      const history = await session.history();
      equal(
        history.map(({ executionId, executionCount, code, status }) => [executionId, executionCount, code, status]),
        [
          [executions[0]?.id, 1, "a = 1", "ok"],
          [executions[1]?.id, 2, "1 / 0", "error"],
          [executions[2]?.id, 3, "import sys; sys.exit()", "exit"],
        ],
        "the entries",
      );
    },
  },
];
