import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LineDisplay, TreeDisplay } from "../../../src/cli/run/run-display.ts";
import type { RunId } from "../../../src/protocol/ids.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import type { RunResult } from "../../../src/protocol/runs.ts";
import type { ModelUsage } from "../../../src/protocol/usage.ts";
import { textWidth } from "../../../src/util/text/text-width.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const runId = "r1" as RunId;

function spent(tokens: number, costUsd: number | null = 0.001): ModelUsage {
  return {
    inputTokens: tokens,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    tokens,
    estimatedTokens: 0,
    costUsd,
    llmCalls: 1,
    toolCalls: 0,
    iterations: 0,
    cachedCalls: 0,
  };
}

const result: RunResult = {
  runId,
  status: "final",
  stopReason: "answered",
  answer: "42",
  why: null,
  usage: { total: { ...spent(1200, 0.0123), llmCalls: 3 }, byModel: {}, byNode: {}, wallMs: 4200 },
};

type Bare<Event> = Event extends RunEvent ? Omit<Event, "runId" | "seq"> : never;

/** Adds the run id and sequence numbers. */
function events(...list: Bare<RunEvent>[]): RunEvent[] {
  return list.map((event, index) => ({ ...event, runId, seq: index + 1 }));
}

function nodeStart(nodeId: string, depth: number, time: number, query = `question of ${nodeId}`): Bare<RunEvent> {
  const parentId = depth === 0 ? null : "n0";
  return { type: "node-start", nodeId, parentId, depth, query, model: "m", context: [], isDegraded: false, time };
}

function call(nodeId: string, callId: string, time: number, usage?: ModelUsage): Bare<RunEvent> {
  if (usage === undefined) {
    const facts = {
      purpose: "step",
      step: 1,
      ordinal: 0,
      backend: "b",
      model: "m",
      requestHash: "",
      messages: [],
    } as const;
    return { type: "model-call-start", nodeId, callId, time, ...facts };
  }
  const said = { ok: true, text: "", reasoning: "", finishReason: "stop", isCached: false, isCut: false, error: null };
  return { type: "model-call-end", nodeId, callId, time, usage, durationMs: 1, ...said };
}

const story = events(
  { type: "run-start", query: "q", model: "m", subModel: "m", limits: {}, maxDepth: 4, time: 0 },
  nodeStart("n0", 0, 0),
  { type: "step-start", nodeId: "n0", step: 1, time: 0 },
  call("n0", "c1", 0),
  call("n0", "c1", 1000, spent(1000)),
  { type: "code-start", nodeId: "n0", step: 1, code: "x", time: 1000 },
  nodeStart("n1", 1, 1500),
  { type: "step-start", nodeId: "n1", step: 1, time: 1500 },
  call("n1", "c2", 1500),
);

class FakeDisplay {
  readonly columns: number;
  readonly rows: number;
  writes: string[] = [];
  constructor(columns = 100, rows = 24) {
    this.columns = columns;
    this.rows = rows;
  }
  write(text: string): void {
    this.writes.push(text);
  }
}

test("the tree shows each node under its parent with state, step, tokens, cost and time", () => {
  const display = new FakeDisplay();
  const runDisplay = new TreeDisplay(display, () => 3500);
  for (const event of story) runDisplay.update(event);
  vi.advanceTimersByTime(100);
  expect(display.writes).toEqual([
    [
      "▸ n0 runs code · step 1 · 1,000 tokens · $0.0010 · 3.5 s  question of n0",
      "  ▸ n1 thinks · step 1 · 0 tokens · $0.00 · 2.0 s  question of n1",
      "1 call · 1,000 tokens · $0.0010 · 3.5 s",
    ].join("\n"),
  ]);
  runDisplay.end(result);
});

test("it is redrawn in place at most ten times a second, and ends with the summary", () => {
  const display = new FakeDisplay();
  let now = 0;
  const runDisplay = new TreeDisplay(display, () => now);
  for (let round = 0; round < 1000; round += 1) {
    now += 1;
    for (const event of story) runDisplay.update(event);
    vi.advanceTimersByTime(1);
  }
  expect(display.writes.length).toBeLessThanOrEqual(10);
  runDisplay.end(result);
  runDisplay.end(result);
  const [last, newline] = display.writes.slice(-2);
  expect(last?.startsWith("\r\u001B[2A\u001B[J▸ n0")).toBe(true);
  expect(last?.split("\n").at(-1)).toBe("final · 2 nodes · 3 calls · 1,200 tokens · $0.0123 · 4.2 s · run r1");
  expect(newline).toBe("\n");
});

test("nothing is drawn while nothing changes", () => {
  const display = new FakeDisplay();
  const runDisplay = new TreeDisplay(display, () => 3500);
  for (const event of story) runDisplay.update(event);
  vi.advanceTimersByTime(1000);
  expect(display.writes.length).toBe(1);
  runDisplay.end();
});

test.each([10, 40, 61, 200])("rows fit a terminal of %i columns, whatever the question contains", (columns) => {
  const display = new FakeDisplay(columns);
  const runDisplay = new TreeDisplay(display, () => 0);
  const query = `日本語の質問\u001B[2J\n\tand 👩‍👩‍👧 ${"long ".repeat(100)}`;
  for (const event of events(nodeStart("n0", 0, 0, query), nodeStart("n1", 40, 0, query))) runDisplay.update(event);
  runDisplay.end(result);
  const rows = (display.writes[0] ?? "").split("\n");
  expect(rows.length).toBe(3);
  for (const row of rows) expect(textWidth(row)).toBeLessThan(columns);
  expect(display.writes.join("")).not.toContain("\u001B[2J");
});

test("if space is short, the root and running nodes are shown", () => {
  const display = new FakeDisplay(100, 8);
  const runDisplay = new TreeDisplay(display, () => 0);
  const children = Array.from({ length: 50 }, (_, index) => `n${index + 1}`);
  const ended = children.slice(0, 48).map((nodeId): Bare<RunEvent> => {
    return { type: "node-end", nodeId, status: "final", stopReason: "answered", answer: "", usage: spent(1), time: 0 };
  });
  const starts = children.map((id, index) => nodeStart(id, 1, index));
  for (const event of events(nodeStart("n0", 0, 0), ...starts, ...ended)) runDisplay.update(event);
  vi.advanceTimersByTime(100);
  const rows = display.writes.join("").split("\n");
  expect(rows.length).toBeLessThan(8);
  expect(rows.map((row) => /n\d+|more nodes/.exec(row)?.[0]).slice(0, -1)).toEqual([
    "n0",
    "n47",
    "n48",
    "n49",
    "n50",
    "more nodes",
  ]);
  runDisplay.end();
});

test("without a terminal there is a plain line per step", () => {
  const display = new FakeDisplay();
  const runDisplay = new LineDisplay(display);
  const rest = events(
    call("n1", "c2", 2000, spent(300, null)),
    { type: "step-end", nodeId: "n1", step: 1, observation: "", time: 2000 },
    { type: "limit-warning", nodeId: "n0", axis: "tokens", used: 8000, limit: 10_000, time: 2000 },
    {
      type: "node-end",
      nodeId: "n1",
      status: "final",
      stopReason: "answered",
      answer: "a",
      usage: spent(1),
      time: 2500,
    },
    { type: "step-end", nodeId: "n0", step: 1, observation: "", time: 3000 },
  );
  for (const event of [...story, ...rest]) runDisplay.update(event);
  runDisplay.end(result);
  expect(display.writes.join("").split("\n")).toEqual([
    "n0 starts: question of n0",
    "  n1 starts: question of n1",
    "  n1 step 1 · 1 call · 300 tokens · cost unknown so far · 0.5 s",
    "n0 tokens nears its limit: 8,000 of 10,000",
    "  n1 done after 1.0 s",
    "n0 step 1 · 1 call · 1,000 tokens · $0.0010 so far · 3.0 s",
    "final · 2 nodes · 3 calls · 1,200 tokens · $0.0123 · 4.2 s · run r1",
    "",
  ]);
});
