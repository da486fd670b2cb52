// Live copies of a session: forks, checkpoints, rewinding and undoing.

import { ForkRefusedError, RLMError, SessionExistsError } from "../../../errors.ts";
import { check, equal, matches, rejects } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { begin, run, valueOf } from "../drive.ts";

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
