import { describe, expect, test } from "vitest";
import { RunTree } from "../../../web/src/runs/model/run-tree.ts";
import { lanesOf, segmentsOf } from "../../../web/src/runs/model/segments.ts";
import { MAX_SHARES, sharesByModel, sharesByNode, sharesByRole } from "../../../web/src/runs/model/usage-shares.ts";
import type { OutlineSpan } from "../../../web/src/state/runs/run-source.ts";
import { makeRun } from "./make-run.ts";
import { timeOf } from "../time-of.ts";
import { node, span } from "./outline-parts.ts";

const RANGE = { from: 0, to: 100 };

function treeOf(spans: readonly OutlineSpan[]): RunTree {
  const tree = new RunTree();
  tree.update({ nodes: [node("n0")], spans });
  return tree;
}

function segments(tree: RunTree, id: string, apart = 0): unknown {
  const row = tree.find(id);
  return row && segmentsOf(row, RANGE, 100, apart).map(({ kind, from, to }) => [kind, from, to]);
}

describe("the bar of a row", () => {
  test("of code is light where the code waited for its calls", () => {
    const tree = treeOf([
      span({ kind: "code", callId: null, seq: 5, startedAt: 10, endedAt: 90 }),
      span({ callId: "c2", purpose: "query", startedAt: 20, endedAt: 50 }),
      span({ callId: "c3", purpose: "query", startedAt: 40, endedAt: 60 }),
    ]);
    expect(segments(tree, "n0/1/code-5")).toEqual([
      ["code", 0.1, 0.2],
      ["held", 0.2, 0.6],
      ["code", 0.6, 0.9],
    ]);
  });

  test("is found quickly where a damaged record has thousands of pieces of code in one step", () => {
    const tree = treeOf(
      Array.from({ length: 40_000 }, (_, index) =>
        span(
          index % 2 === 0
            ? { kind: "code", callId: null, seq: index, startedAt: index, endedAt: 100_000 }
            : { kind: "tool", callId: `c${index}`, seq: index, startedAt: index, endedAt: index + 0.5 },
        ),
      ),
    );
    expect(timeOf(() => void segments(tree, "n0/1", 0.01))).toBeLessThan(5_000);
  });

  test("of a call shows its waits, no longer than the call", () => {
    const waits = [{ at: 20, delayMs: 500, fault: "rate-limit" }];
    expect(segments(treeOf([span({ startedAt: 10, endedAt: 50, waits })]), "n0/1/c1")).toEqual([
      ["model", 0.1, 0.5],
      ["wait", 0.2, 0.5],
    ]);
  });

  test("of a node is its own work, with parts that are too small to be seen joined", () => {
    const spans = Array.from({ length: 400 }, (_, index) =>
      span({ callId: `c${index}`, step: index, startedAt: index / 5, endedAt: index / 5 + 0.1 }),
    );
    const tree = treeOf(spans);
    expect(segments(tree, "n0", 0.01)).toHaveLength(1);
    expect((segments(tree, "n0", 0) as unknown[]).length).toBeLessThanOrEqual(60);
  });

  test("of a batch has a lane for some of its members, and marks those that failed", () => {
    const spans = Array.from({ length: 40 }, (_, index) =>
      span({ callId: `c${index}`, batch: { id: "b", ordinal: index + 1, size: 40 }, ok: index !== 0 }),
    );
    const batch = treeOf(spans).find("n0/1/batch-calls-b");
    const lanes = batch && lanesOf(batch, RANGE, 100);
    expect(lanes).toHaveLength(8);
    expect(lanes?.map(({ kind }) => kind)).toEqual(["failed", ...Array.from({ length: 7 }, () => "model")]);
  });
});

describe("usage", () => {
  test("by node has the largest, and the rest as one", () => {
    const { outline } = makeRun({ nodes: 100 });
    const shares = sharesByNode(outline, "tokens");
    expect(shares).toHaveLength(MAX_SHARES + 1);
    expect(shares.at(-1)).toMatchObject({ id: null, label: "80 more" });
    const fractions = shares.slice(0, -1).map(({ fraction }) => fraction);
    expect(fractions).toEqual(fractions.toSorted((a, b) => b - a));
    expect(shares.reduce((sum, { fraction }) => sum + fraction, 0)).toBeCloseTo(1);
  });

  test("by cost is sorted by it", () => {
    const cheap = span({ name: "small", callId: "c1", inputTokens: 900, costUsd: 0.1 });
    const dear = span({ name: "large", callId: "c2", inputTokens: 100, costUsd: 0.3 });
    const outline = { ...makeRun({ nodes: 1 }).outline, spans: [cheap, dear] };
    const [first, second] = sharesByModel(outline, "cost");
    expect([first?.id, second?.id, first?.fraction]).toEqual(["large", "small", 0.3 / (0.1 + 0.3)]);
    expect(sharesByModel(outline, "tokens")[0]?.id).toBe("small");
  });

  test("by role tells steps of the root, of nodes below, queries and last answers apart", () => {
    const made = makeRun({ nodes: 2 }).outline;
    const spans = [
      span({ callId: "c1", nodeId: "n0", purpose: "step", inputTokens: 400 }),
      span({ callId: "c2", nodeId: "n1", purpose: "step", inputTokens: 300 }),
      span({ callId: "c3", nodeId: "n1", purpose: "query", inputTokens: 200 }),
      span({ callId: "c4", nodeId: "n0", purpose: "extract", inputTokens: 100 }),
    ];
    const shares = sharesByRole({ ...made, spans }, "tokens");
    expect(shares.map(({ label, calls }) => [label, calls])).toEqual([
      ["Root", 1],
      ["Nodes below", 1],
      ["llm_query", 1],
      ["Last answer", 1],
    ]);
  });

  test("by model adds up to all calls", () => {
    const { outline } = makeRun({ nodes: 20 });
    const calls = sharesByModel(outline, "tokens").reduce((sum, share) => sum + share.calls, 0);
    expect(calls).toBe(outline.spans.filter(({ kind }) => kind === "model").length);
  });
});
