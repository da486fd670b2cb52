import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LineDisplay } from "../../../src/cli/run/line-display.ts";
import { TreeDisplay } from "../../../src/cli/run/run-display.ts";
import type { RunId } from "../../../src/protocol/ids.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import type { RunResult } from "../../../src/protocol/runs.ts";
import type { ModelUsage } from "../../../src/protocol/usage.ts";
import { omitUndefined } from "../../../src/util/omit-undefined.ts";
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
  usage: { total: { ...spent(1200, 0.0123), llmCalls: 3 }, byModel: {}, byRole: {}, byNode: {}, wallMs: 4200 },
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
  {
    type: "run-start",
    query: "q",
    model: "m",
    subModel: "m",
    childModel: "m",
    extractModel: null,
    limits: {},
    maxDepth: 4,
    strategy: { name: "frontier", digest: "0123456789abcdef" },
    time: 0,
  },
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

test("a large context is loaded before the node thinks", () => {
  const context = [{ name: "context", kind: "text", bytes: 2 ** 30 }];
  const stateAt = (bytes: number, ...later: Bare<RunEvent>[]): string | undefined => {
    const display = new FakeDisplay();
    const runDisplay = new TreeDisplay(display, () => 2_000);
    const start = { ...nodeStart("n0", 0, 0), context: context.map((one) => ({ ...one, bytes })) } as Bare<RunEvent>;
    for (const event of events(start, ...later)) runDisplay.update(event);
    vi.advanceTimersByTime(100);
    runDisplay.end();
    return /n0 ([^·]*) ·/.exec(display.writes[0] ?? "")?.[1];
  };
  expect(stateAt(2 ** 30)).toBe("loads 1.0 GiB");
  expect(stateAt(2 ** 20)).toBe("starts");
  expect(stateAt(2 ** 30, call("n0", "c1", 10))).toBe("thinks");
});

test("a terminal that does not know its size has the usual one", () => {
  let written = "";
  const runDisplay = new TreeDisplay({ columns: 0, rows: 0, write: (text) => (written += text) }, () => 3500);
  for (const event of story) runDisplay.update(event);
  vi.advanceTimersByTime(100);
  runDisplay.end(result);
  expect(written).toContain("question of n0");
  expect(written).not.toContain("Infinity");
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
  expect(rows.length).toBeGreaterThanOrEqual(3);
  for (const row of rows.slice(0, 2)) expect(textWidth(row)).toBeLessThan(columns);
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
    "n0 nears the limit on tokens: 8,000 of 10,000",
    "  n1 done after 1.0 s",
    "n0 step 1 · 1 call · 1,000 tokens · $0.0010 so far · 3.0 s",
    "final · 2 nodes · 3 calls · 1,200 tokens · $0.0123 · 4.2 s · run r1",
    "",
  ]);
});

const id = "r-mwiwfhpp3e8f20" as RunId;
const longResult: RunResult = {
  ...result,
  runId: id,
  status: "partial",
  stopReason: "costUsd",
  usage: {
    ...result.usage,
    wallMs: 3_725_000,
    total: { ...spent(31_500, 0.4985), llmCalls: 1234, cachedCalls: 1000, estimatedTokens: 2100 },
  },
};

function batchStart(count: number, size: number, time: number): Bare<RunEvent>[] {
  return Array.from({ length: count }, (_, at) => ({
    ...(call("n0", `q${at + 1}`, time) as Extract<Bare<RunEvent>, { type: "model-call-start" }>),
    purpose: "query" as const,
    batch: { id: "b1", ordinal: at + 1, size },
  }));
}

function wait(callId: string, time: number, delayMs: number): Bare<RunEvent> {
  return {
    type: "model-call-wait",
    nodeId: "n0",
    callId,
    fault: "rate-limit",
    delayMs,
    attempts: 1,
    error: "429",
    time,
  };
}

const batchStory: Bare<RunEvent>[] = [
  {
    type: "run-start",
    query: "q",
    model: "m",
    subModel: "m",
    childModel: "m",
    extractModel: null,
    limits: { costUsd: 0.5, wallMs: 1_800_000 },
    maxDepth: 4,
    strategy: { name: "frontier", digest: "0123456789abcdef" },
    time: 0,
  },
  nodeStart("n0", 0, 0, "Which ships brought lanterns to the harbour, and how many?"),
  { type: "step-start", nodeId: "n0", step: 2, time: 0 },
  { type: "code-start", nodeId: "n0", step: 2, code: "x", time: 0 },
  ...batchStart(200, 200, 0),
  ...Array.from({ length: 37 }, (_, at) => call("n0", `q${at + 1}`, 1000, spent(1000, 0.0084))),
];

test.each([80, 60])(
  "on %i columns a batch, a wait, the budget and the id are whole; the question gives way",
  (columns) => {
    const display = new FakeDisplay(columns);
    const runDisplay = new TreeDisplay(display, () => 2500);
    for (const event of events(...batchStory, wait("q40", 2000, 2500), wait("q41", 2000, 9000)))
      runDisplay.update(event);
    vi.advanceTimersByTime(100);
    const rows = (display.writes[0] ?? "").split("\n");
    expect(rows[0]).toMatch(
      columns === 80
        ? /^▸ n0 37 of 200 answered · step 2 · 37\.0k tokens · \$0\.3108 · 2\.5 s {2}\S.*…$/
        : /^▸ n0 37 of 200 answered · step 2 · \$0\.3108 · 2\.5 s$/,
    );
    expect(rows[1]).toBe("2 calls: rate-limited, trying again in 2 s");
    expect(rows.slice(2).join(" · ")).toBe("37 calls · 37.0k tokens · $0.3108 · 2.5 s · 62 % of $0.50");
    for (const row of rows) expect(textWidth(row)).toBeLessThan(columns);
    runDisplay.end(longResult);
    const summary = (display.writes.at(-2) ?? "").split("\n").slice(1);
    expect(summary.join(" · ")).toBe(
      "partial (limit: cost) · 1 node · 1,234 calls (1,000 from the cache) · 31.5k tokens (2,100 estimated) · $0.4985 · 62 min 5 s · run r-mwiwfhpp3e8f20",
    );
    for (const row of summary) expect(textWidth(row)).toBeLessThan(columns);
    expect(summary.at(-1)).toMatch(/run r-mwiwfhpp3e8f20$/);
  },
);

test("a wait is over when its time has come, or when the answer begins", () => {
  const display = new FakeDisplay();
  let now = 2500;
  const runDisplay = new TreeDisplay(display, () => now);
  for (const event of events(...batchStory, wait("q40", 2000, 1000), wait("q41", 2000, 9000))) runDisplay.update(event);
  vi.advanceTimersByTime(100);
  expect(display.writes.at(-1)).toContain("2 calls: rate-limited, trying again in 1 s");
  now = 3100;
  vi.advanceTimersByTime(100);
  expect(display.writes.at(-1)).toContain("\nrate-limited, trying again in 8 s");
  const [delta] = events({
    type: "model-call-delta",
    nodeId: "n0",
    callId: "q41",
    text: "a",
    kind: "text",
    time: 3100,
  });
  if (delta !== undefined) runDisplay.update(delta);
  now = 3200;
  vi.advanceTimersByTime(100);
  expect(display.writes.at(-1)).not.toContain("rate-limited");
  runDisplay.end();
});

test("children that are asked for at once count for their parent", () => {
  const display = new FakeDisplay();
  const runDisplay = new TreeDisplay(display, () => 0);
  const child = (at: number): Bare<RunEvent> => {
    const batch = { id: "b1", ordinal: at, size: 40 };
    return { ...(nodeStart(`n${at}`, 1, 0) as Extract<Bare<RunEvent>, { type: "node-start" }>), batch };
  };
  const ended: Bare<RunEvent> = {
    type: "node-end",
    nodeId: "n2",
    status: "final",
    stopReason: "answered",
    answer: "",
    usage: spent(1),
    time: 0,
  };
  for (const event of events(...batchStory.slice(0, 4), child(1), child(2), child(3), ended)) runDisplay.update(event);
  vi.advanceTimersByTime(100);
  expect(display.writes[0]).toContain("▸ n0 1 of 40 answered");
  runDisplay.end();
});

test("without a terminal the lines do not grow with the calls: batches and waits have one every five seconds", () => {
  const display = new FakeDisplay();
  const runDisplay = new LineDisplay(display);
  const answers = Array.from({ length: 163 }, (_, at) => call("n0", `q${at + 38}`, 1000 + at * 60, spent(10, 0)));
  const waits = Array.from({ length: 100 }, (_, at) => wait(`q${at + 38}`, 1000 + at * 10, 2000));
  for (const event of events(...batchStory, ...waits, ...answers)) runDisplay.update(event);
  expect(display.writes).toEqual([
    "n0 starts: Which ships brought lanterns to the harbour, and how many?\n",
    "n0 0 of 200 answered\n",
    "n0 rate-limited, trying again in 2 s\n",
    "n0 105 of 200 answered · 62 % of $0.50\n",
    "n0 189 of 200 answered · 62 % of $0.50\n",
  ]);
  runDisplay.end();
});

test("the share of the budget is that of the limit that is nearest", () => {
  const shareOf = (limits: object, time: number): string | undefined => {
    const display = new FakeDisplay();
    const runDisplay = new LineDisplay(display);
    const start = { ...batchStory[0], limits } as Bare<RunEvent>;
    const end: Bare<RunEvent> = { type: "step-end", nodeId: "n0", step: 2, observation: "", time };
    for (const event of events(start, ...batchStory.slice(1), end)) runDisplay.update(event);
    return / · (\d+ % of .*)\n$/.exec(display.writes.at(-1) ?? "")?.[1];
  };
  expect(shareOf({ tokens: 200_000, costUsd: 3.1 }, 2000)).toBe("18 % of 200k tokens");
  expect(shareOf({ llmCalls: 1000, wallMs: 1_800_000 }, 2000)).toBeUndefined(); // the defaults, far from reached
  expect(shareOf({ llmCalls: 100, costUsd: 31 }, 2000)).toBe("37 % of 100 calls");
  expect(shareOf({ llmCalls: 1000, costUsd: 31 }, 2000)).toBe("1 % of $31.00");
  expect(shareOf({ llmCalls: 1000, wallMs: 1_800_000 }, 900_000)).toBe("50 % of 30 min");
  expect(shareOf({ costUsd: 0.3125 }, 2000)).toBe("99 % of $0.3125");
  expect(shareOf({ wallMs: 2_000_000_000 }, 2000)).toBeUndefined();
  expect(shareOf({}, 2000)).toBeUndefined();
});

test.each([TreeDisplay, LineDisplay])("%o survives a server that lies about its nodes", (Display) => {
  const written: string[] = [];
  const display = new Display({ columns: 80, rows: 24, write: (text) => written.push(text) });
  const deep = Array.from({ length: 50_000 }, (_, at): Bare<RunEvent> => {
    const parentId = at === 0 ? null : `n${at - 1}`;
    return { ...nodeStart(`n${at}`, at - 7, 0), parentId } as Bare<RunEvent>;
  });
  for (const event of events(...deep)) display.update(event);
  vi.advanceTimersByTime(200);
  display.end(result);
  expect(written.join("")).toContain("50,000 nodes");
});

test("costs by role are shown where some are known, and an error is no limit", () => {
  const summaryOf = (costs: readonly (number | null)[], total: number | null): string => {
    const [root, sub] = costs.map((costUsd) => spent(1, costUsd ?? null));
    const display = new FakeDisplay();
    const byRole = omitUndefined({ root, sub });
    const usage = { ...result.usage, total: spent(2, total), byRole };
    new LineDisplay(display).end({ ...result, status: "partial", stopReason: "error", usage });
    return display.writes.join("");
  };
  expect(summaryOf([null, null], null)).toBe("partial · 0 nodes · 1 call · 2 tokens · cost unknown · 4.2 s · run r1\n");
  expect(summaryOf([0.5, null], null)).toContain(" · cost unknown · root $0.5000 · llm_query cost unknown · ");
  expect(summaryOf([0.5, 0.00001], 0.5)).toContain(" · root $0.5000 · llm_query <$0.0001 · ");
});
