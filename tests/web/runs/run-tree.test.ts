import { describe, expect, test } from "vitest";
import { troubleOf } from "../../../web/src/runs/model/row-text.ts";
import { RunTree, type RunRow } from "../../../web/src/runs/model/run-tree.ts";
import { costOf, tokensOf } from "../../../web/src/runs/model/sums.ts";
import { isFolded, revealed, shownFor, visibleRows } from "../../../web/src/runs/model/visible-rows.ts";
import type { OutlineNode, OutlineSpan } from "../../../web/src/state/runs/run-source.ts";
import { makeRun } from "./make-run.ts";
import { node, span } from "./outline-parts.ts";

function treeOf(nodes: readonly OutlineNode[], spans: readonly OutlineSpan[]): RunTree {
  const tree = new RunTree();
  tree.update({ nodes, spans });
  return tree;
}

function idsOf(rows: readonly RunRow[]): readonly string[] {
  return rows.map(({ id }) => id);
}

const BATCH = { id: "b1", size: 2 };
const SMALL = {
  nodes: [node("n0"), node("n1", { parentId: "n0", parentStep: 1, depth: 1, startedAt: 30, endedAt: 90 })],
  spans: [
    span({ callId: "c1", step: 1, startedAt: 10, endedAt: 20, inputTokens: 100, outputTokens: 10, costUsd: 0.5 }),
    span({ kind: "code", callId: null, seq: 12, step: 1, startedAt: 20, endedAt: 95, costUsd: null }),
    span({
      callId: "c2",
      step: 1,
      purpose: "query",
      batch: { ...BATCH, ordinal: 1 },
      startedAt: 22,
      endedAt: 60,
      inputTokens: 5,
    }),
    span({
      callId: "c3",
      step: 1,
      purpose: "query",
      batch: { ...BATCH, ordinal: 2 },
      startedAt: 23,
      endedAt: 60,
      inputTokens: 7,
    }),
    span({ nodeId: "n1", callId: "c4", step: 1, startedAt: 31, endedAt: 80, inputTokens: 1_000, ok: false }),
  ],
};

describe("the rows of a run", () => {
  test("are nodes, their steps, and what happened in each, in the order in which it began", () => {
    const tree = treeOf(SMALL.nodes, SMALL.spans);
    expect(idsOf(visibleRows(tree.root, new Map()))).toEqual([
      "n0",
      "n0/1",
      "n0/1/c1",
      "n0/1/code-12",
      "n0/1/batch-calls-b1",
      "n0/1/c2",
      "n0/1/c3",
      "n1",
      "n1/1",
      "n1/1/c4",
    ]);
    expect(tree.find("n1")?.level).toBe(3);
    expect(tree.find("n0/1/c2")?.level).toBe(4);
  });

  test("sum up everything below them", () => {
    const root = treeOf(SMALL.nodes, SMALL.spans).root;
    expect(root && tokensOf(root.sums)).toBe(1_122);
    expect(root && costOf(root.sums)).toBe(0.5);
    expect(root?.sums).toMatchObject({ modelCalls: 4, codeBlocks: 1, nodes: 2, failures: 1 });
    expect(root?.below).toBe(9);
  });

  test("do not know their cost where a price is not known", () => {
    const tree = treeOf([node("n0")], [span({ callId: "c1", step: 1, costUsd: null })]);
    expect(tree.root && costOf(tree.root.sums)).toBeNull();
  });

  test("that have no times of their own last from their first to their last child", () => {
    const tree = treeOf(SMALL.nodes, SMALL.spans);
    expect(tree.find("n0/1")).toMatchObject({ startedAt: 10, endedAt: 95, isOk: true });
    expect(tree.find("n1/1")).toMatchObject({ startedAt: 31, endedAt: 80, isOk: false });
    const open = treeOf([node("n0", { endedAt: null })], [span({ callId: "c1", step: 1, endedAt: null, ok: null })]);
    expect(open.find("n0/1")).toMatchObject({ endedAt: null, isOk: null });
  });

  test("end with their node, also where their own end was not recorded", () => {
    const [open, cut] = [
      span({ callId: "c1", endedAt: null, ok: null }),
      span({ kind: "code", callId: null, seq: 5, endedAt: null, ok: null }),
    ];
    const tree = treeOf([node("n0", { endedAt: null, status: null })], [open, cut]);
    expect(tree.find("n0/1")?.endedAt).toBeNull();
    tree.update({ nodes: [node("n0", { endedAt: 500, status: "failed" })], spans: [open, cut] });
    expect(["n0/1/c1", "n0/1/code-5", "n0/1"].map((id) => tree.find(id)?.endedAt)).toEqual([500, 500, 500]);
    const row = tree.find("n0/1/c1");
    expect(row && troubleOf(row)).toBe("cut off");
  });

  test("are cancelled with their node, which is no failure; what failed before is one", () => {
    const spans = [
      span({ callId: "c1", step: 1, endedAt: 100, ok: false }),
      span({ callId: "c2", step: 2, endedAt: 200, ok: false }),
      span({ callId: "c3", step: 2, endedAt: 60_010, ok: false }),
      span({ callId: "c4", step: 2, endedAt: 50_000, ok: true }),
      span({ callId: "c5", step: 2, endedAt: null, ok: null }),
    ];
    const tree = treeOf([node("n0", { steps: 2, endedAt: null, status: null })], spans);
    tree.update({ nodes: [node("n0", { steps: 2, endedAt: 60_020, status: "cancelled" })], spans });
    const troubles = ["n0", "n0/1/c1", "n0/2/c2", "n0/2/c3", "n0/2/c4", "n0/2/c5"].map((id) => {
      const row = tree.find(id);
      return row && troubleOf(row);
    });
    expect(troubles).toEqual(["cancelled", "failed", "failed", "cancelled", undefined, "cancelled"]);
  });

  test("of calls without a step belong to their node", () => {
    const tree = treeOf([node("n0")], [span({ callId: "c1", step: null, purpose: "direct" })]);
    expect(tree.find("n0/-/c1")?.parent?.id).toBe("n0");
  });

  test("of a node that is not known are left out", () => {
    expect(treeOf([node("n0")], [span({ nodeId: "n9", callId: "c1" })]).size).toBe(1);
  });

  test("stay the same objects when a later outline comes, and only what changed gets a new version", () => {
    const tree = treeOf(SMALL.nodes, SMALL.spans);
    const [changed, untouched] = [tree.find("n1/1/c4"), tree.find("n0/1/c1")];
    const versions = [changed?.version, untouched?.version];
    const later = SMALL.spans.map((one) => (one.callId === "c4" ? { ...one, inputTokens: 2_000 } : one));
    tree.update({ nodes: SMALL.nodes, spans: [...later, span({ callId: "c9", step: 2, startedAt: 100 })] });
    expect(tree.find("n1/1/c4")).toBe(changed);
    expect([changed?.version, untouched?.version]).toEqual([(versions[0] ?? 0) + 1, versions[1]]);
    expect(tree.root && tokensOf(tree.root.sums)).toBe(2_122);
    expect(tree.find("n0/2/c9")).toBeDefined();
  });

  test("are the same whether a run is followed or opened at its end", () => {
    const { outline } = makeRun({ nodes: 40 });
    const followed = new RunTree();
    for (let count = 1; count <= outline.spans.length; count += 7) {
      const spans = outline.spans.slice(0, count);
      followed.update({
        nodes: outline.nodes.filter(({ startedAt }) => startedAt <= (spans.at(-1)?.startedAt ?? 0)),
        spans,
      });
    }
    followed.update(outline);
    const opened = treeOf(outline.nodes, outline.spans);
    const all = (tree: RunTree): readonly string[] => idsOf(visibleRows(tree.root, everythingOpen(tree.root)));
    expect(all(followed)).toEqual(all(opened));
    expect(followed.root?.sums).toEqual(opened.root?.sums);
  });
});

describe("folding", () => {
  test("hides what is below, and says how much", () => {
    const tree = treeOf(SMALL.nodes, SMALL.spans);
    const folds = new Map([["n0/1", true]]);
    expect(idsOf(visibleRows(tree.root, folds))).toEqual(["n0", "n0/1"]);
    expect(tree.find("n0/1")?.below).toBe(8);
  });

  test("leaves a row without children alone", () => {
    const row = treeOf(SMALL.nodes, SMALL.spans).find("n0/1/c1");
    expect(row && isFolded(row, new Map([["n0/1/c1", true]]))).toBe(false);
  });

  test("is undone above a row that is revealed, and nowhere else", () => {
    const tree = treeOf(SMALL.nodes, SMALL.spans);
    const folds = new Map([
      ["n0/1", true],
      ["n1", true],
      ["n0/1/batch-calls-b1", true],
    ]);
    const row = tree.find("n1/1/c4");
    expect(row && shownFor(row, folds).id).toBe("n0/1");
    const open = row && revealed(row, folds);
    expect(open && [...open]).toEqual([
      ["n0/1", false],
      ["n1", false],
      ["n0/1/batch-calls-b1", true],
    ]);
    const child = tree.find("n0/1/c2");
    expect(child && open && shownFor(child, open).id).toBe("n0/1/batch-calls-b1");
  });

  test("is the beginning of deep branches in a big run", () => {
    const { outline } = makeRun({ nodes: 300 });
    const tree = treeOf(outline.nodes, outline.spans);
    const rows = visibleRows(tree.root, new Map());
    expect(tree.size).toBeGreaterThan(3_000);
    expect(rows.length).toBeLessThan(200);
    const nodes = rows.filter(({ kind, level }) => kind === "node" && level > 1);
    expect(nodes.length).toBeGreaterThan(5);
    expect(nodes.every((row) => isFolded(row, new Map()))).toBe(true);
  });
});

function everythingOpen(root: RunRow | undefined): ReadonlyMap<string, boolean> {
  const folds = new Map<string, boolean>();
  const visit = (row: RunRow): void => {
    folds.set(row.id, false);
    for (const child of row.children) visit(child);
  };
  if (root !== undefined) visit(root);
  return folds;
}
