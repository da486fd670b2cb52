// Live copies of a session: forks, checkpoints, rewinding and undoing.

import { ForkRefusedError, RLMError, SessionExistsError } from "../../../errors.ts";
import { check, equal, matches, rejects } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { begin, record, run, valueOf } from "../drive.ts";

export const BRANCHES: readonly ContractCase[] = [
  {
    name: "a fork has the state and the files of the session, and changes neither",
    needs: ["fork"],
    async run({ openSession, other }) {
      const session = await openSession();
      await run(session, "x = [1]\ngenerator = iter(range(3))\nnext(generator)\nopen('a.txt', 'w').write('a')");
      const id = uniqueId("f");
      await using fork = await session.fork({ id });
      equal(fork.id, id, "the id");
      equal(
        await valueOf(fork, "x.append(2); x, next(generator), open('a.txt').read()"),
        "([1, 2], 1, 'a')",
        "the state",
      );
      await fork.files.write("b.txt", "b");
      equal(await valueOf(session, "x, next(generator)"), "([1], 1)", "the state of the session");
      equal(await session.files.exists("b.txt"), false, "whether the session has the file of the fork");
      equal((await (await other.sessions.get(id)).info()).id, id, "the id of the fork, found");
    },
  },
  {
    name: "a fork is refused while code runs, and for an id that is taken",
    needs: ["fork"],
    async run({ openSession }) {
      const session = await openSession();
      await rejects(session.fork({ id: session.id }), SessionExistsError, { sessionId: session.id });
      const { execution } = await begin(session);
      const error = await rejects(session.fork(), ForkRefusedError, { code: "FORK_REFUSED" });
      check(error.why !== "", "the error must say why");
      await rejects(session.checkpoint(), ForkRefusedError);
      await execution.cancel();
    },
  },
  {
    name: "rewind returns to a checkpoint, which is kept, and begins an epoch",
    needs: ["checkpoint"],
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = 1");
      const checkpoint = await session.checkpoint();
      matches(checkpoint, { executionCount: 1, isAutomatic: false });
      await run(session, "x = 2; y = 3");
      const { epoch } = await session.info();
      equal(await session.rewind(checkpoint), checkpoint, "the checkpoint");
      equal(await valueOf(session, "x, 'y' in globals()"), "(1, False)", "the state");
      check((await session.info()).epoch > epoch, "a new epoch must begin");
      await run(session, "x = 4");
      await session.rewind(checkpoint.id);
      equal(await valueOf(session, "x"), "1", "the variable, by id and again");
    },
  },
  {
    name: "checkpoints are listed, the oldest first, and can be dropped",
    needs: ["checkpoint"],
    async run({ openSession, other }) {
      const session = await openSession();
      const [one, two, three] = [await session.checkpoint(), await session.checkpoint(), await session.checkpoint()];
      equal(await session.checkpoints(), [one, two, three], "the checkpoints");
      await session.dropCheckpoint(two);
      await session.dropCheckpoint(three.id);
      equal(await (await other.sessions.get(session.id)).checkpoints(), [one], "the checkpoints that are left");
      await rejects(session.rewind(two), ForkRefusedError);
      await rejects(session.rewind("nothing"), ForkRefusedError);
      await session.dropCheckpoint(two); // again
      await session.dropCheckpoint("nothing");
      equal((await session.rewind(one)).id, one.id, "the checkpoint that is left");
    },
  },
  {
    name: "undo returns to the state before the last execution, and before the one before it",
    needs: ["checkpoint"],
    async run({ openSession }) {
      const session = await openSession({ autoCheckpoint: true });
      await run(session, "x = 1");
      await run(session, "x = 2");
      await run(session, "x = 3");
      await session.undo();
      equal(await session.get("x"), 2, "the variable");
      await session.undo();
      equal(await session.get("x"), 1, "the variable");
      equal(
        (await session.checkpoints()).every(({ isAutomatic }) => isAutomatic),
        true,
        "whether they are automatic",
      );
    },
  },
  {
    name: "undo needs autoCheckpoint, and something to undo",
    needs: ["checkpoint"],
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = 1");
      await rejects(session.undo(), RLMError);
      equal(await session.get("x"), 1, "the variable");
      await rejects((await openSession({ autoCheckpoint: 2 })).undo(), RLMError);
    },
  },
  {
    name: "executions and checkpoints form a tree, which shows where the state comes from",
    needs: ["checkpoint"],
    async run({ openSession }) {
      const session = await openSession();
      matches(await session.info(), { checkpointId: null, head: 0, forkedFrom: null });
      await run(session, "x = 1");
      const one = await session.checkpoint();
      await run(session, "x = 2");
      const two = await session.checkpoint();
      matches(two, { executionCount: 2, parentId: one.id });
      await session.rewind(one);
      matches(await session.info(), { checkpointId: one.id, head: 1, executionCount: 2 });
      await run(session, "x = 3");
      const three = await session.checkpoint();
      matches(three, { executionCount: 3, parentId: one.id });
      equal(
        (await session.history()).map(({ executionCount, parent }) => [executionCount, parent]),
        [
          [1, 0],
          [2, 1],
          [3, 1],
        ],
        "the executions and their parents",
      );
      await session.dropCheckpoint(one);
      equal(
        (await session.checkpoints()).map(({ id, parentId }) => [id, parentId]),
        [
          [two.id, null],
          [three.id, null],
        ],
        "the checkpoints that continued from one that was dropped",
      );
      await session.reset();
      matches(await session.info(), { checkpointId: null, head: 0 });
    },
  },
  {
    name: "a fork names what it is a copy of",
    needs: ["fork"],
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = 1");
      await using fork = await session.fork();
      await run(session, "x = 2");
      await session.close();
      matches(await fork.info(), { forkedFrom: { sessionId: session.id, executionCount: 1 }, head: 1 });
      await run(fork, "x");
      matches((await fork.history())[0], { executionCount: 2, parent: 1 });
    },
  },
  {
    name: "subscriptions receive what others do with copies of the session",
    needs: ["fork", "checkpoint"],
    async run({ openSession, other }) {
      const session = await openSession();
      const { events, subscription, until } = await record(await other.sessions.get(session.id));
      const checkpoint = await session.checkpoint();
      await using fork = await session.fork();
      await session.rewind(checkpoint);
      await session.dropCheckpoint(checkpoint);
      await until(({ type }) => type === "checkpoint-drop");
      const [sessionId, checkpointId] = [session.id, checkpoint.id];
      matches(events[0], { type: "checkpoint-add", sessionId, checkpoint });
      matches(events[1], { type: "session-fork", sessionId, forkId: fork.id });
      matches(events[2], { type: "session-reset", sessionId, why: "rewound", checkpointId, head: 0 });
      matches(events[3], { type: "checkpoint-drop", sessionId, checkpointId });
      equal(events.length, 4, "the number of events");
      subscription[Symbol.dispose]();
    },
  },
  {
    name: "a session whose worker is lost comes back from its last checkpoint",
    needs: ["checkpoint"],
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = 'saved'");
      await session.checkpoint();
      await run(session, "x = 'later'");
      matches(await session.execute("import os; os._exit(1)"), { state: "restored" });
      equal(await valueOf(session, "x"), "'saved'", "the variable");
    },
  },
];
