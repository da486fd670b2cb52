import { expect, test } from "vitest";
import type { Checkpoint, SessionId } from "../../../src/client/index.ts";
import { placeBranchNodes, toBranchNodes, type BranchFacts } from "../../../web/src/state/sessions/branch-tree.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const checkpoint = (id: string, executionCount: number, parentId: string | null, minute: number): Checkpoint => ({
  id,
  executionCount,
  parentId,
  createdAt: at(minute),
  isAutomatic: false,
});
const entry = (executionCount: number, parent: number, minute: number): BranchFacts["history"][number] => ({
  executionCount,
  parent,
  code: `code ${executionCount}`,
  startedAt: at(minute),
});
const facts = (given: Partial<BranchFacts> = {}): BranchFacts => ({
  info: { id: "s1" as SessionId, createdAt: at(0), forkedFrom: null, checkpointId: null, head: 0 },
  checkpoints: [],
  sessions: [],
  history: [],
  ...given,
});
/** The newest first, as it is drawn: `column key ← parent`. */
const draw = (given: BranchFacts): string[] =>
  placeBranchNodes(toBranchNodes(given))
    .toSorted((a, b) => a.row - b.row)
    .map(({ node, column, parent }) => `${column} ${node.key}${parent ? ` ← ${parent.column}` : ""}`);

test("a new session is its start and the present", () => {
  expect(draw(facts())).toEqual(["0 present ← 0", "0 start"]);
});

test("checkpoints in a row are one column", () => {
  const given = facts({
    info: { ...facts().info, checkpointId: "c2", head: 3 },
    checkpoints: [checkpoint("c1", 1, null, 1), checkpoint("c2", 2, "c1", 2)],
  });
  expect(draw(given)).toEqual(["0 present ← 0", "0 checkpoint c2 ← 0", "0 checkpoint c1 ← 0", "0 start"]);
});

test("a rewind leaves a branch beside the one to the present", () => {
  const given = facts({
    info: { ...facts().info, checkpointId: "c1", head: 4 },
    checkpoints: [checkpoint("c1", 1, null, 1), checkpoint("c2", 3, "c1", 3)],
    history: [entry(1, 0, 1), entry(2, 1, 2), entry(3, 2, 3), entry(4, 1, 4)],
  });
  expect(draw(given)).toEqual(["0 present ← 0", "1 checkpoint c2 ← 0", "0 checkpoint c1 ← 0", "0 start"]);
});

test("executions that were left without a checkpoint are an end of their own", () => {
  const given = facts({
    info: { ...facts().info, checkpointId: "c1", head: 1 },
    checkpoints: [checkpoint("c1", 1, null, 1)],
    history: [entry(1, 0, 1), entry(2, 1, 2)],
  });
  expect(draw(given)).toEqual(["0 present ← 0", "1 left 2 ← 0", "0 checkpoint c1 ← 0", "0 start"]);
});

test("a fork hangs on the last checkpoint of its path, not on one of another branch", () => {
  const given = facts({
    info: { ...facts().info, checkpointId: "c1", head: 3 },
    checkpoints: [checkpoint("c1", 1, null, 1), checkpoint("c2", 2, "c1", 2)],
    history: [entry(1, 0, 1), entry(2, 1, 2), entry(3, 1, 3)],
    sessions: [
      { id: "s1" as SessionId, createdAt: at(0), forkedFrom: null },
      { id: "s2" as SessionId, createdAt: at(4), forkedFrom: { sessionId: "s1" as SessionId, executionCount: 3 } },
      { id: "s3" as SessionId, createdAt: at(5), forkedFrom: { sessionId: "s9" as SessionId, executionCount: 3 } },
    ],
  });
  expect(draw(given)).toEqual([
    "0 present ← 0",
    "2 fork s2 ← 0",
    "1 checkpoint c2 ← 0",
    "0 checkpoint c1 ← 0",
    "0 start",
  ]);
});

test("a parent that is no longer kept is the start", () => {
  const given = facts({ checkpoints: [checkpoint("c2", 2, "c1", 2)] });
  expect(draw(given)).toEqual(["0 present ← 0", "1 checkpoint c2 ← 0", "0 start"]);
});

test("columns are used again where their lines do not meet", () => {
  const given = facts({
    info: { ...facts().info, checkpointId: "c3", head: 9 },
    checkpoints: [
      checkpoint("c1", 1, null, 1),
      checkpoint("side1", 2, "c1", 2),
      checkpoint("c3", 3, "c1", 3),
      checkpoint("side2", 4, "c3", 4),
    ],
  });
  expect(draw(given)).toEqual([
    "0 present ← 0",
    "1 checkpoint side2 ← 0",
    "0 checkpoint c3 ← 0",
    "1 checkpoint side1 ← 0",
    "0 checkpoint c1 ← 0",
    "0 start",
  ]);
});

test("an automatic checkpoint says which execution it was taken for", () => {
  const given = facts({
    checkpoints: [
      { ...checkpoint("c1", 1, null, 2), isAutomatic: true },
      { ...checkpoint("c2", 2, "c1", 3), isAutomatic: true },
      checkpoint("c3", 2, "c2", 4),
    ],
    history: [entry(1, 0, 1), entry(2, 1, 2), entry(3, 1, 5)],
  });
  const before = toBranchNodes(given).flatMap((node) => (node.kind === "checkpoint" ? [node.before] : []));
  expect(before).toEqual([{ count: 2, code: "code 2" }, undefined, undefined]);
});
