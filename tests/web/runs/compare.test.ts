import { describe, expect, test } from "vitest";
import { alignRuns, firstDifference, foldSame } from "../../../web/src/runs/model/compare.ts";
import { formatDelta } from "../../../web/src/runs/model/delta.ts";
import { firstWords } from "../../../web/src/runs/model/row-text.ts";
import { RunTree, type RunRow } from "../../../web/src/runs/model/run-tree.ts";
import type { OutlineNode, OutlineSpan } from "../../../web/src/state/runs/run-source.ts";
import { makeRun } from "./make-run.ts";
import { node, span } from "./outline-parts.ts";

function rootOf(nodes: readonly OutlineNode[], spans: readonly OutlineSpan[]): RunRow | undefined {
  const tree = new RunTree();
  tree.update({ nodes, spans });
  return tree.root;
}

const STEPS = [1, 2, 3].flatMap((step) => [
  span({ step, callId: `c${step}`, head: `Reply ${step}`, startedAt: step * 10 }),
  span({ step, kind: "code", callId: null, seq: step * 10, name: `code(${step})`, startedAt: step * 10 + 5 }),
]);

describe("two runs", () => {
  test("that say the same differ nowhere, whatever they took", () => {
    const slower = STEPS.map((one) => ({ ...one, endedAt: 5_000, inputTokens: 77 }));
    const rows = alignRuns(rootOf([node("n0")], STEPS), rootOf([node("n0")], slower));
    expect(rows).toHaveLength(10);
    expect(firstDifference(rows)).toBeUndefined();
    expect(foldSame(rows, new Set())).toMatchObject([{ kind: "same", place: "n0" }]);
  });

  test("part where they first say something else, not where its answer differs above", () => {
    const other = STEPS.map((one) => (one.step === 2 && one.kind === "model" ? { ...one, head: "Another idea" } : one));
    const rows = alignRuns(rootOf([node("n0")], STEPS), rootOf([node("n0", { answer: "Nothing" })], other));
    expect(rows[0]).toMatchObject({ place: "n0", likeness: "different" });
    expect(firstDifference(rows)).toMatchObject({ place: "n0/step-2/model-1", likeness: "different" });
  });

  test("mark a step whose words differ, and one whose words are the same and whose inside differs", () => {
    const other = STEPS.map((one) => {
      if (one.step === 1 && one.kind === "model") return { ...one, head: "Another idea" };
      return one.step === 2 && one.kind === "code" ? { ...one, head: "ValueError" } : one;
    });
    const rows = alignRuns(rootOf([node("n0")], STEPS), rootOf([node("n0")], other));
    expect(rows.map(({ place, likeness }) => [place, likeness])).toEqual([
      ["n0", "inside"],
      ["n0/step-1", "different"],
      ["n0/step-1/model-1", "different"],
      ["n0/step-1/code-1", "same"],
      ["n0/step-2", "inside"],
      ["n0/step-2/model-1", "same"],
      ["n0/step-2/code-1", "different"],
      ["n0/step-3", "same"],
      ["n0/step-3/model-1", "same"],
      ["n0/step-3/code-1", "same"],
    ]);
  });

  test("say what differs where the words of both are the same", () => {
    const other = STEPS.map((one) => (one.step === 2 && one.kind === "code" ? { ...one, head: "7 pieces" } : one));
    const rows = alignRuns(rootOf([node("n0")], STEPS), rootOf([node("n0", { answer: "None" })], other));
    const details = new Map(rows.map((row) => [row.place, row.details]));
    expect(details.get("n0")).toEqual({ left: "The answer of n0", right: "None" });
    expect(details.get("n0/step-2/code-1")).toEqual({ left: "A reply", right: "7 pieces" });
    expect(details.get("n0/step-2")).toBeNull();
  });

  test("are never the same in a row whose shown words differ", () => {
    const [left, right] = [makeRun({ nodes: 40, seed: 1 }).outline, makeRun({ nodes: 40, seed: 2 }).outline];
    const rows = alignRuns(rootOf(left.nodes, left.spans), rootOf(right.nodes, right.spans));
    for (const { left: a, right: b, likeness } of rows) {
      if (a === null || b === null || likeness === "different") continue;
      expect(firstWords(a)).toBe(firstWords(b));
    }
  });

  test("are aligned by their steps where one has more of them", () => {
    const shorter = STEPS.filter(({ step }) => step !== 2);
    const rows = alignRuns(rootOf([node("n0")], STEPS), rootOf([node("n0")], shorter));
    const only = rows.filter(({ likeness }) => likeness === "only-left").map(({ place }) => place);
    expect(only).toEqual(["n0/step-2", "n0/step-2/model-1", "n0/step-2/code-1"]);
    expect(rows.find(({ place }) => place === "n0/step-3/model-1")).toMatchObject({ likeness: "same" });
  });

  test("are aligned by the order of a batch, not by the ids of its nodes", () => {
    const child = (id: string, ordinal: number, query: string): OutlineNode =>
      node(id, { parentId: "n0", parentStep: 1, depth: 1, query, batch: { id: "b", ordinal, size: 2 } });
    const left = rootOf([node("n0"), child("n1", 1, "A?"), child("n2", 2, "B?")], []);
    const right = rootOf([node("n0"), child("n5", 2, "B?"), child("n7", 1, "A?")], []);
    const rows = alignRuns(left, right).filter((row) => row.left?.node?.parentId === "n0");
    expect(rows.map((row) => [row.left?.id, row.right?.id])).toEqual([
      ["n1", "n7"],
      ["n2", "n5"],
    ]);
  });

  test("fold what is the same around a difference, and unfold it again", () => {
    const other = STEPS.map((one) => (one.step === 3 && one.kind === "code" ? { ...one, head: "ValueError" } : one));
    const rows = alignRuns(rootOf([node("n0")], STEPS), rootOf([node("n0")], other));
    const lines = foldSame(rows, new Set());
    expect(lines.map((line) => (line.kind === "same" ? line.rows.length : line.row.likeness))).toEqual([
      "inside",
      6,
      "inside",
      "same",
      "different",
    ]);
    expect(foldSame(rows, new Set(["n0/step-1"]))).toHaveLength(rows.length);
  });

  test("of two thousand nodes are compared at once", { tags: "stress" }, () => {
    const left = makeRun({ nodes: 2_000 }).outline;
    const rows = alignRuns(rootOf(left.nodes, left.spans), rootOf(left.nodes, left.spans));
    expect(rows.length).toBeGreaterThan(20_000);
    expect(firstDifference(rows)).toBeUndefined();
  });
});

test("a difference of two figures is said in percent, or as a factor", () => {
  expect([formatDelta(100, 112), formatDelta(100, 97), formatDelta(5, 5)]).toEqual(["+12 %", "−3 %", "0 %"]);
  expect([formatDelta(1, 4), formatDelta(1, 40), formatDelta(0, 3), formatDelta(null, 3)]).toEqual([
    "×4.0",
    "×40",
    "new",
    "",
  ]);
});
