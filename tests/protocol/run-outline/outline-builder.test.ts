import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutlineBuilder } from "../../../src/protocol/run-outline/outline-builder.ts";
import { runOutline, type RunOutline } from "../../../src/protocol/run-outline/run-outline.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { EventEncoder } from "../../../src/store/runs/event-encoder.ts";
import { growthDuring } from "../../hostile/live-memory.ts";
import {
  callEnd,
  callStart,
  codeEnd,
  nodeEnd,
  nodeStart,
  numberer,
  runEnd,
  runStart,
  smallRun,
  STARTED,
  toRunId,
  type Bare,
} from "../../store/runs/recorded-run.ts";

const ID = toRunId("r-0123456789abcdef");

function build(events: readonly { readonly type: string }[], from: RunOutline | typeof ID = ID): RunOutline {
  const builder = new OutlineBuilder(from);
  for (const event of events) builder.add(event);
  return builder.outline;
}

test("an outline has the nodes of a run, and what took time in each", () => {
  const outline = build(smallRun(ID));
  expect(runOutline.parse(outline)).toEqual(outline);
  expect(outline).toMatchObject({
    runId: ID,
    seq: 22,
    query: "How many?",
    limits: { tokens: 10_000 },
    startedAt: STARTED + 1000,
    endedAt: STARTED + 22_000,
    lostLines: 0,
  });
  expect(outline.nodes).toMatchObject([
    { id: "n0", parentId: null, parentStep: null, steps: 1, status: "final", answer: "42", llmCalls: 2, toolCalls: 1 },
    { id: "n1", parentId: "n0", parentStep: 1, depth: 1, query: "Count the first half", answer: "21", llmCalls: 1 },
  ]);
  // The price of one call of the root is not known.
  expect(outline.nodes.map(({ inputTokens, outputTokens, costUsd }) => [inputTokens, outputTokens, costUsd])).toEqual([
    [200, 40, null],
    [100, 20, 0.0012],
  ]);
  expect(outline.nodes.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])).toEqual([
    [2, 21],
    [9, 17],
  ]);
  const brief = outline.spans.map(({ kind, nodeId, step, seq, endSeq, callId, ok, name, head }) =>
    [kind, nodeId, step, seq, endSeq, callId, ok, name, head.split("\n")[0]].join(" "),
  );
  expect(brief).toEqual([
    "model n0 1 4 6 c1 true big I look.",
    "code n0 1 7 18  true print(len(context)) 2000000",
    "model n0 1 8 10 c2 true small A hundred.",
    'tool n0 1 11 12 t1 true file_read {"text":"seven"}',
    "model n1 1 15 16 c3 false big Cannot get an answer from scripted: 500",
  ]);
  expect(outline.marks).toEqual([
    { kind: "limit-warning", seq: 20, nodeId: "n0", time: STARTED + 20_000, axis: "tokens", used: 8000, limit: 10_000 },
  ]);
});

test("a call says what it waited for, and that it has not ended", () => {
  const number = numberer(ID);
  const wait = { type: "model-call-wait", nodeId: "n0", callId: "c1", attempts: 1, error: "429" } as const;
  const outline = build([
    number(runStart()),
    number(nodeStart("n0", null)),
    number(callStart({ nodeId: "n0", callId: "c1" })),
    ...Array.from({ length: 150 }, () => number({ ...wait, fault: "rate-limit", delayMs: 250 })),
  ]);
  expect(outline.spans).toMatchObject([{ endedAt: null, endSeq: null, ok: null, head: "" }]);
  expect(outline.spans[0]?.waits).toHaveLength(100);
  expect(outline.spans[0]?.waits[0]).toEqual({ at: STARTED + 4000, delayMs: 250, fault: "rate-limit" });
  expect(outline.nodes[0]).toMatchObject({ endedAt: null, status: null });
});

test("events that are in it already, and deltas, change nothing", () => {
  const events = smallRun(ID);
  const outline = build(events);
  expect(build(events, outline)).toEqual(outline);
  const builder = new OutlineBuilder(outline);
  const delta = { type: "output-delta", runId: ID, seq: 99, time: STARTED, nodeId: "n0", step: 1, text: "x" };
  expect(builder.add(delta)).toBeUndefined();
  expect(builder.outline).toEqual(outline);
});

test("an outline that was handed out does not change", () => {
  const [first, second] = [smallRun(ID).slice(0, 8), smallRun(ID).slice(8)];
  const builder = new OutlineBuilder(ID);
  for (const event of first) builder.add(event);
  const before = builder.outline;
  const copy = structuredClone(before);
  for (const event of second) builder.add(event);
  expect(before).toEqual(copy);
  expect(builder.outline.nodes.length).toBeGreaterThan(before.nodes.length);
});

test("an outline keeps nothing of long texts but their beginning", async () => {
  const builder = new OutlineBuilder(ID);
  const grownMiB = await growthDuring(() => {
    for (let seq = 1; seq <= 60; seq += 1) {
      const query = Buffer.alloc(2 * 1024 * 1024, "x").toString("latin1");
      const event = { ...nodeStart(`n${seq}`, null, query), seq, time: STARTED };
      builder.add(event);
    }
    return Promise.resolve();
  });
  expect(builder.outline.nodes).toHaveLength(60);
  expect(grownMiB).toBeLessThan(60);
});

describe("for any run", () => {
  test("an outline that is built in parts is the same, in any split", () => {
    fc.assert(
      fc.property(anyRun(), fc.array(fc.nat(200)), (events, cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), events.length];
        let outline = build([]);
        let start = 0;
        for (const end of ends) {
          // As a server sends it.
          outline = build(events.slice(start, end), JSON.parse(JSON.stringify(outline)) as RunOutline);
          start = Math.max(start, end);
        }
        expect(outline).toEqual(build(events));
      }),
    );
  });

  test("the outline of stored events is that of whole events", () => {
    fc.assert(
      fc.property(anyRun(), (events) => {
        const encoder = new EventEncoder();
        const stored = events.map((event) => JSON.parse(encoder.encode(event).line) as { type: string });
        expect(build(stored)).toEqual(build(events));
      }),
    );
  });

  test("the outline is valid, whatever the events are", () => {
    const type = fc.constantFrom(...smallRun(ID).map((event) => event.type), "__proto__");
    const name = fc.constantFrom("nodeId", "callId", "step", "parentId", "result", "usage", "batch", "limits", "axis");
    const field = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("n0", "c1", 1, 1e300, -1, "tokens", { $blob: "x", head: 1 }),
    );
    const event = fc
      .tuple(type, fc.nat(50), fc.oneof(fc.nat(), fc.double()), fc.dictionary(name, field))
      .map(([kind, seq, time, fields]) => ({ ...fields, type: kind, seq, time }));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const outline = build(events);
        expect(runOutline.safeParse(outline).error).toBeUndefined();
      }),
    );
  });
});

/** Nodes, calls and code in any order, many of them broken off, with texts of any length. */
function anyRun(): fc.Arbitrary<readonly RunEvent[]> {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.nat(4000).map((length) => 'ä"\n '.repeat(length).slice(0, length)),
  );
  const node = fc.constantFrom("n0", "n1", "n2");
  const step = fc.integer({ min: 1, max: 3 });
  const callId = fc.constantFrom("c1", "c2", "c3");
  const batch = fc.option(fc.constant({ id: "b1", ordinal: 1, size: 2 }), { nil: undefined });
  const wait = { type: "model-call-wait", attempts: 1, error: null } as const;
  const one: fc.Arbitrary<Bare> = fc.oneof(
    text.map((query) => runStart(query)),
    fc.tuple(node, node, text).map(([id, parentId, query]) => nodeStart(id, parentId === id ? null : parentId, query)),
    fc.record({ type: fc.constant("step-start" as const), nodeId: node, step }),
    fc.tuple(node, callId, step, batch, text).map(([nodeId, id, at, several, content]) =>
      callStart({
        nodeId,
        callId: id,
        step: at,
        messages: [{ role: "user", content }],
        ...(several && { batch: several }),
      }),
    ),
    fc.tuple(node, callId).map(([nodeId, id]): Bare => ({ ...wait, nodeId, callId: id, fault: "server", delayMs: 9 })),
    fc
      .tuple(node, callId, text, fc.boolean())
      .map(([nodeId, id, reply, ok]) => callEnd({ nodeId, callId: id, text: reply, ok, error: ok ? null : "down" })),
    fc.record({ type: fc.constant("code-start" as const), nodeId: node, step, code: text }),
    fc.tuple(node, step, text).map(([nodeId, at, stdout]) => codeEnd(nodeId, at, stdout)),
    fc.tuple(node, callId, text).map(([nodeId, id, value]): Bare => ({
      type: "tool-call-start",
      nodeId,
      callId: id,
      tool: "look",
      args: { value },
    })),
    fc.tuple(node, callId, text).map(([nodeId, id, value]): Bare => ({
      type: "tool-call-end",
      nodeId,
      callId: id,
      ok: true,
      result: { list: [1, null, value], value },
      durationMs: 1,
    })),
    fc.tuple(node, text).map(([nodeId, answer]) => nodeEnd(nodeId, answer)),
    fc.constant(runEnd(ID)),
  );
  return fc.array(one, { maxLength: 60 }).map((all) => all.map(numberer(ID)));
}
