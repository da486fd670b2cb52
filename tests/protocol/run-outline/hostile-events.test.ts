// Events of a record that somebody else wrote, to make an outline that is large, deep or not valid.

import { expect, test } from "vitest";
import { OutlineBuilder } from "../../../src/protocol/run-outline/outline-builder.ts";
import { runOutline, type RunOutline } from "../../../src/protocol/run-outline/run-outline.ts";
import { growthDuring } from "../../hostile/live-memory.ts";
import { STARTED, toRunId } from "../../store/runs/recorded-run.ts";

const ID = toRunId("r-0123456789abcdef");

type Fields = Readonly<Record<string, unknown>> & { readonly type: string };

function build(events: Iterable<Fields>): RunOutline {
  const builder = new OutlineBuilder(ID);
  let seq = 0;
  for (const event of events) builder.add({ seq: (seq += 1), time: STARTED, ...event } as Fields);
  return builder.outline;
}

test("sums of huge amounts stay numbers that a client accepts", () => {
  const usage = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER, costUsd: 1e308 };
  const outline = build([
    { type: "run-start", maxDepth: 0.5 },
    { type: "node-start", nodeId: "n0", parentId: null },
    ...["c1", "c2", "c3"].map((callId) => ({ type: "model-call-end", nodeId: "n0", callId, usage })),
  ]);
  expect(runOutline.safeParse(outline).error).toBeUndefined();
  expect(outline.nodes).toMatchObject([{ inputTokens: Number.MAX_SAFE_INTEGER, costUsd: null }]);
});

test("a chain of nodes is cut where it is too deep, also in an outline that is continued", () => {
  const chain = Array.from({ length: 2_000 }, (_, at) => ({
    type: "node-start",
    nodeId: `n${at}`,
    parentId: at === 0 ? null : `n${at - 1}`,
  }));
  const outline = build(chain);
  expect(outline.omitted).toBeGreaterThan(0);
  expect(deepest(outline)).toBe(200);
  const continued = new OutlineBuilder(outline);
  continued.add({ type: "node-start", seq: 5_000, time: STARTED, nodeId: "below", parentId: "n199" } as Fields);
  continued.add({ type: "node-start", seq: 5_001, time: STARTED, nodeId: "beside", parentId: "n0" } as Fields);
  expect(continued.outline.nodes.slice(outline.nodes.length).map(({ id }) => id)).toEqual(["beside"]);
});

/** Nodes above each other. */
function deepest({ nodes }: RunOutline): number {
  const levels = new Map<string, number>();
  for (const { id, parentId } of nodes) levels.set(id, 1 + ((parentId !== null && levels.get(parentId)) || 0));
  return Math.max(...levels.values());
}

test("a node that is its own parent, or that of its parent, is one without a parent", () => {
  const outline = build([
    { type: "node-start", nodeId: "n0", parentId: "n0" },
    { type: "node-start", nodeId: "n1", parentId: "n2" },
    { type: "node-start", nodeId: "n2", parentId: "n1" },
  ]);
  expect(outline.nodes.map(({ id }) => id)).toEqual(["n0", "n1", "n2"]);
});

test("waits take bounded memory, however many calls wait", async () => {
  const calls = 400;
  function* events(): Generator<Fields> {
    yield { type: "node-start", nodeId: "n0", parentId: null };
    for (let call = 0; call < calls; call += 1) {
      yield { type: "model-call-start", nodeId: "n0", callId: `c${call}` };
      for (let wait = 0; wait < 100; wait += 1)
        yield { type: "model-call-wait", nodeId: "n0", callId: `c${call}`, fault: `${"x".repeat(190)}${call} ${wait}` };
    }
  }
  let outline: RunOutline | undefined;
  const grownMiB = await growthDuring(async () => void (outline = build(events())));
  const waits = outline?.spans.reduce((sum, span) => sum + span.waits.length, 0) ?? 0;
  expect(waits).toBeLessThanOrEqual(20_000);
  expect(waits + (outline?.omitted ?? 0)).toBe(calls * 100);
  expect(grownMiB).toBeLessThan(20);
});

test("names and ids take bounded memory, however many nodes and calls there are", () => {
  const long = "x".repeat(190);
  function* events(): Generator<Fields> {
    yield { type: "node-start", nodeId: "n0", parentId: null };
    for (let call = 0; call < 100_000; call += 1)
      yield { type: "model-call-start", nodeId: "n0", callId: `${long}${call}`, model: `${long}${call}` };
  }
  const outline = build(events());
  const characters = outline.spans.reduce((sum, { callId, name }) => sum + (callId ?? "").length + name.length, 0);
  expect(characters).toBeLessThanOrEqual(32_000_000);
  expect(outline.spans.length + outline.omitted).toBe(100_000);
});
