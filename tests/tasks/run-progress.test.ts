import { expect, test } from "vitest";
import type { RunId } from "../../src/protocol/ids.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelUsage } from "../../src/protocol/usage.ts";
import { RunProgress } from "../../src/tasks/run-progress.ts";

type BareEvent = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "runId" | "seq" | "time">
    : never
  : never;

/** The lines, and the current activity after each event. Events are a second apart. */
function follow(events: readonly BareEvent[]): { readonly lines: string[]; readonly now: string[] } {
  const progress = new RunProgress();
  const [lines, now]: [string[], string[]] = [[], []];
  for (const [seq, event] of events.entries()) {
    const line = progress.update({ ...event, runId: "r-1" as RunId, seq, time: seq * 1000 });
    if (line !== undefined) lines.push(line);
    now.push(progress.current);
  }
  return { lines, now };
}

const USAGE = {} as ModelUsage;
const start = (nodeId: string, parentId: string | null, query = "?"): BareEvent => ({
  type: "node-start",
  nodeId,
  parentId,
  depth: 0,
  query,
  model: "m",
  context: [],
  isDegraded: false,
});
const asked = (nodeId: string, purpose: "step" | "query", callId = "c"): BareEvent => ({
  type: "model-call-start",
  nodeId,
  callId,
  purpose,
  step: 1,
  ordinal: 1,
  backend: "b",
  model: "m",
  requestHash: "",
  messages: [],
});
const answered = (nodeId: string, callId = "c"): BareEvent => ({
  type: "model-call-end",
  nodeId,
  callId,
  ok: true,
  text: "",
  reasoning: "",
  finishReason: "stop",
  isCached: false,
  isCut: false,
  usage: USAGE,
  error: null,
  durationMs: 1,
});
const stepEnd = (nodeId: string, observation: string): BareEvent => ({
  type: "step-end",
  nodeId,
  step: 1,
  observation,
});

test("a step is a line with its code, its model calls and its outcome", () => {
  const { lines, now } = follow([
    start("n0", null),
    { type: "step-start", nodeId: "n0", step: 1 },
    asked("n0", "step"),
    answered("n0"),
    { type: "code-start", nodeId: "n0", step: 1, code: "a\nb\n" },
    asked("n0", "query", "q1"),
    asked("n0", "query", "q2"),
    answered("n0", "q1"),
    stepEnd("n0", "Output of block 1:\nfirst\nsecond"),
  ]);
  expect(lines).toEqual(["n0 step 1: 2 lines of code, 2 calls of models, 7.0 s → first second"]);
  expect(now).toEqual([
    "n0 starts",
    "n0 starts",
    "n0 step 1: the model thinks",
    "n0 step 1: the model thinks",
    "n0 step 1: runs code",
    "n0 step 1: runs code, 0 of 1 calls of models answered",
    "n0 step 1: runs code, 0 of 2 calls of models answered",
    "n0 step 1: runs code, 1 of 2 calls of models answered",
    "n0 step 1: runs code, 1 of 2 calls of models answered",
  ]);
});

test("children have lines of their own, and a reply without code shows the observation", () => {
  const { lines } = follow([
    start("n0", null),
    start("n1", "n0", "count\nthe first half"),
    { type: "step-start", nodeId: "n1", step: 1 },
    stepEnd("n1", "Nothing was run: the reply has no block of code."),
    { type: "node-end", nodeId: "n1", status: "partial", stopReason: "tokens", answer: null, usage: USAGE },
    { type: "limit-reached", nodeId: "n0", axis: "tokens", used: 1234.5, limit: 2000 },
    { type: "node-end", nodeId: "n0", status: "final", stopReason: "answered", answer: "1", usage: USAGE },
  ]);
  expect(lines).toEqual([
    "n1 starts, for n0: count the first half",
    "n1 step 1: no code, 1.0 s → Nothing was run: the reply has no block of code.",
    "n1 has ended: partial",
    "limit of tokens is reached: 1,234.5 of 2,000",
  ]);
});

test("a line is short, without line breaks and control characters, whatever was printed", () => {
  const { lines } = follow([
    start("n0", null),
    stepEnd("n0", `Output of block 1:\n\u001B]0;title\u0007\u009B2J\u2028${"😀".repeat(5_000)}`),
  ]);
  expect(lines[0]).not.toMatch(/[\p{Cc}\u2028]/u);
  expect(lines[0]?.length).toBeLessThan(250);
  expect(Buffer.from(lines[0] ?? "").toString()).toBe(lines[0]); // no half of a character
});

test("events of an unknown node are ignored", () => {
  expect(follow([stepEnd("n7", "x"), answered("n7")])).toEqual({ lines: [], now: ["", ""] });
});

test("a call that waits for its next attempt is the current activity", () => {
  const wait: BareEvent = {
    type: "model-call-wait",
    nodeId: "n0",
    callId: "q1",
    fault: "rate-limit",
    delayMs: 1200,
    attempts: 1,
    error: "429",
  };
  const { lines, now } = follow([
    start("n0", null),
    { type: "step-start", nodeId: "n0", step: 1 },
    asked("n0", "query", "q1"),
    asked("n0", "query", "q2"),
    wait,
  ]);
  expect(lines).toEqual([]);
  expect(now.at(-1)).toBe("n0 step 1: rate-limited, trying again in 2 s, 0 of 2 calls of models answered");
});
