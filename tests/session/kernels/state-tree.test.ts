// The tree that rewinding makes of executions and checkpoints, and the events that keep observers up to date with it.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

async function run(session: Session, ...codes: readonly string[]): Promise<void> {
  for (const code of codes) await session.execute(code).result;
}

/** Where the state of a session comes from. */
async function originOf(session: Session): Promise<readonly [string | null, number]> {
  const { checkpointId, head } = await session.info();
  return [checkpointId, head];
}

const parentsOf = (session: Session): readonly (readonly [number, number])[] =>
  session.history().map(({ executionCount, parent }) => [executionCount, parent]);

const treeOf = (session: Session): readonly (readonly [string, string | null, number])[] =>
  session.checkpoints().map(({ id, parentId, executionCount }) => [id, parentId, executionCount]);

describe("the state of a session", () => {
  test("continues from the checkpoint it was rewound to, and branches off there", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 1", "x = 2");
    const one = await session.checkpoint();
    await run(session, "x = 3");
    await session.checkpoint();
    await session.rewind(one);
    expect(await originOf(session)).toEqual(["c1", 2]);
    await session.checkpoint(); // before anything else has run
    await run(session, "x = 4", "x = 5");
    await session.checkpoint();
    expect(await originOf(session)).toEqual(["c4", 5]);
    expect(parentsOf(session)).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 2],
      [5, 4],
    ]);
    expect(treeOf(session)).toEqual([
      ["c1", null, 2],
      ["c2", "c1", 3],
      ["c3", "c1", 2],
      ["c4", "c3", 5],
    ]);
  });

  test("continues from the parent of a checkpoint that was dropped", async () => {
    await using session = await runtime.openSession();
    await session.checkpoint();
    const two = await session.checkpoint();
    await session.checkpoint();
    session.dropCheckpoint(two);
    expect(treeOf(session)).toEqual([
      ["c1", null, 0],
      ["c3", "c1", 0],
    ]);
    session.dropCheckpoint("c3");
    expect(await originOf(session)).toEqual(["c1", 0]);
    session.dropCheckpoint("c1");
    expect(await originOf(session)).toEqual([null, 0]);
  });

  test("continues from before the execution that was undone, whose checkpoint is gone", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: true });
    await run(session, "x = 1", "x = 2", "x = 3");
    await session.undo();
    expect(await originOf(session)).toEqual(["c2", 2]);
    await run(session, "x = 4");
    expect(parentsOf(session).at(-1)).toEqual([4, 2]);
    expect(treeOf(session).at(-1)).toEqual(["c4", "c2", 2]);
  });

  test("comes from nothing after a reset, and from the checkpoint after a rewind to before it", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 1");
    const checkpoint = await session.checkpoint();
    await session.reset();
    expect(await originOf(session)).toEqual([null, 0]);
    await run(session, "x = 2");
    expect(parentsOf(session)).toEqual([[2, 0]]);
    expect((await session.checkpoint()).parentId).toBe(null);
    await session.rewind(checkpoint);
    expect(await originOf(session)).toEqual(["c1", 1]);
  });

  test("comes from the checkpoint that was restored after a lost worker, else from nothing", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 1", "import os; os._exit(1)");
    expect(await originOf(session)).toEqual([null, 0]);
    await run(session, "x = 3");
    await session.checkpoint();
    await run(session, "x = 4", "import os; os._exit(1)");
    expect(await originOf(session)).toEqual(["c1", 3]);
    await run(session, "x");
    expect(parentsOf(session)).toEqual([
      [1, 0],
      [2, 1],
      [3, 0],
      [4, 3],
      [5, 4],
      [6, 3],
    ]);
  });

  test("is not changed by an execution that never started, nor by a rewind that failed", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 1");
    const running = session.execute("import time; time.sleep(60)");
    const cancelled = session.execute("x = 2");
    cancelled.cancel();
    running.cancel();
    await running.result;
    await expect(session.rewind("c9")).rejects.toThrow(/does not exist/);
    expect(await originOf(session)).toEqual([null, 2]);
    expect(parentsOf(session)).toEqual([
      [1, 0],
      [2, 1],
    ]);
  });

  test("is the part of its original that a fork has, and a fork of a fork names the fork", async () => {
    await using session = await runtime.openSession();
    const start = await session.checkpoint();
    await run(session, "x = 1", "x = 2");
    await session.rewind(start);
    await run(session, "x = 3");
    await session.rewind(start);
    await using fork = await session.fork();
    expect(await fork.info()).toMatchObject({
      forkedFrom: { sessionId: session.id, executionCount: 0 },
      executionCount: 3,
      head: 0,
      checkpointId: null,
    });
    await run(fork, "x = 4");
    expect(parentsOf(fork)).toEqual([[4, 0]]);
    await using second = await fork.fork();
    expect((await second.info()).forkedFrom).toEqual({ sessionId: fork.id, executionCount: 4 });
  });
});

describe("observers", () => {
  test("follow the tree by events alone", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: 2 });
    const events: unknown[] = [];
    session.subscribe((event) => {
      if (event.type === "checkpoint-add") events.push([event.checkpoint.id, event.checkpoint.parentId]);
      else if (event.type === "checkpoint-drop") events.push(event.checkpointId);
      else if (event.type === "session-reset") events.push([event.why, event.checkpointId, event.head]);
      else if (event.type === "execution-start") events.push(event.executionCount);
    });
    await run(session, "x = 1", "x = 2", "x = 3");
    await session.undo();
    expect(events).toEqual([["c1", null], 1, ["c2", "c1"], 2, "c1", ["c3", "c2"], 3, "c3", ["rewound", "c2", 2]]);
  });

  test("learn where the state came from before the next execution starts", async () => {
    await using session = await runtime.openSession();
    await session.checkpoint();
    const events: unknown[] = [];
    session.subscribe(({ type }) => events.push(type));
    session.execute("import os; os._exit(1)");
    await session.execute("1").result;
    expect(events).toEqual([
      "execution-start",
      "execution-queue",
      "execution-end",
      "session-reset",
      "execution-start",
      "execution-end",
    ]);
  });

  test("are told of the end of a session, not of each checkpoint that ends with it", async () => {
    const session = await runtime.openSession();
    await session.checkpoint();
    const events: string[] = [];
    session.subscribe(({ type }) => events.push(type));
    await session.close();
    expect(events).toEqual(["session-end"]);
  });
});
