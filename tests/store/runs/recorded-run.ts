// Events of runs for tests, and folders to record them in.

import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunId } from "../../../src/protocol/ids.ts";
import type { ModelCallEnd, ModelCallStart, RunEvent } from "../../../src/protocol/run-events.ts";
import type { RunResult } from "../../../src/protocol/runs.ts";
import type { ModelUsage } from "../../../src/protocol/usage.ts";
import { RunLogWriter, type RunLogOptions } from "../../../src/store/runs/run-log.ts";
import { readRun } from "../../../src/store/runs/run-log-reader.ts";

export const STARTED = Date.UTC(2026, 0, 2, 3, 4, 5);

export interface TestRuns extends Disposable {
  readonly folder: string;
}

export function openRuns(): TestRuns {
  const folder = mkdtempSync(join(tmpdir(), "rlm-runs-"));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

export function toRunId(name: string): RunId {
  return name as RunId;
}

function usage(values: Partial<ModelUsage> = {}): ModelUsage {
  return {
    inputTokens: 100,
    outputTokens: 20,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    tokens: 120,
    estimatedTokens: 0,
    costUsd: 0.0012,
    llmCalls: 1,
    toolCalls: 0,
    iterations: 1,
    cachedCalls: 0,
    ...values,
  };
}

/** An event without the fields that all events have. */
export type Bare = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "runId" | "seq" | "time">
    : never
  : never;

/** Numbers the events of one run, one second apart. */
export function numberer(runId: RunId): (event: Bare) => RunEvent {
  let seq = 0;
  return (event) => {
    seq += 1;
    return { runId, seq, time: STARTED + seq * 1000, ...event };
  };
}

export function runStart(query = "How many?"): Bare {
  return {
    type: "run-start",
    query,
    model: "big",
    subModel: "small",
    childModel: "big",
    extractModel: null,
    limits: { tokens: 10_000 },
    maxDepth: 4,
    strategy: { name: "frontier", digest: "0123456789abcdef" },
  };
}

export function nodeStart(nodeId: string, parentId: string | null, query = "How many?"): Bare {
  const context = [{ name: "context", kind: "text", bytes: 2_000_000 }];
  const depth = parentId === null ? 0 : 1;
  return { type: "node-start", nodeId, parentId, depth, query, model: "big", context, isDegraded: false };
}

export function callStart(call: Pick<ModelCallStart, "nodeId" | "callId"> & Partial<ModelCallStart>): Bare {
  const messages = call.messages ?? [{ role: "user", content: "Go." }];
  return {
    type: "model-call-start",
    purpose: "step",
    step: 1,
    ordinal: 1,
    backend: "scripted",
    model: "big",
    requestHash: createHash("sha256").update(JSON.stringify(messages)).digest("hex"),
    messages,
    ...call,
  };
}

export function callEnd(call: Pick<ModelCallEnd, "nodeId" | "callId"> & Partial<ModelCallEnd>): Bare {
  return {
    type: "model-call-end",
    ok: true,
    text: "I look.\n\n```python\nprint(len(context))\n```",
    reasoning: "",
    finishReason: "stop",
    isCached: false,
    isCut: false,
    usage: usage(),
    error: null,
    durationMs: 1400,
    ...call,
  };
}

export function codeEnd(nodeId: string, step: number, stdout = "2000000\n"): Bare {
  const result = {
    status: "ok",
    stdout,
    stderr: "",
    state: "kept",
    truncated: null,
    sessionId: "s1",
    executionId: "e1",
    executionCount: step,
    epoch: 0,
    durationMs: 3,
    usage: { cpuMs: 2, peakMemoryBytes: 1000 },
  };
  return { type: "code-end", nodeId, step, result } as unknown as Bare;
}

export function nodeEnd(nodeId: string, answer: string): Bare {
  return { type: "node-end", nodeId, status: "final", stopReason: "answered", answer, usage: usage() };
}

export function runEnd(runId: RunId, result: Partial<RunResult> = {}): Bare {
  const total = usage({ llmCalls: 3, tokens: 360, costUsd: 0.0036 });
  return {
    type: "run-end",
    result: {
      runId,
      status: "final",
      stopReason: "answered",
      answer: "42",
      why: null,
      usage: { total, byModel: { big: total }, byRole: { root: total }, byNode: { n0: total }, wallMs: 8200 },
      ...result,
    },
  };
}

const ASKED = [{ role: "user", content: "How many are in the first half?" }];

/** A root that runs code, calls a model and a tool from it, has a child, and answers. */
export function smallRun(runId: RunId): readonly RunEvent[] {
  const bare: readonly Bare[] = [
    runStart(),
    nodeStart("n0", null),
    { type: "step-start", nodeId: "n0", step: 1 },
    callStart({ nodeId: "n0", callId: "c1" }),
    { type: "model-call-delta", nodeId: "n0", callId: "c1", text: "I", kind: "text" },
    callEnd({ nodeId: "n0", callId: "c1", isCut: true }),
    { type: "code-start", nodeId: "n0", step: 1, code: "print(len(context))" },
    callStart({ nodeId: "n0", callId: "c2", purpose: "query", ordinal: 2, model: "small", messages: ASKED }),
    nodeStart("n1", "n0", "Count the first half"),
    callEnd({ nodeId: "n0", callId: "c2", text: "A hundred.", usage: usage({ costUsd: null }), durationMs: 400 }),
    { type: "tool-call-start", nodeId: "n0", callId: "t1", tool: "file_read", args: { path: "notes.txt" } },
    { type: "tool-call-end", nodeId: "n0", callId: "t1", ok: true, result: { text: "seven" }, durationMs: 2 },
    { type: "output-delta", nodeId: "n0", step: 1, stream: "stdout", text: "2000000\n" },
    { type: "step-start", nodeId: "n1", step: 1 },
    callStart({ nodeId: "n1", callId: "c3" }),
    callEnd({ nodeId: "n1", callId: "c3", ok: false, text: "", error: "Cannot get an answer from scripted: 500" }),
    nodeEnd("n1", "21"),
    codeEnd("n0", 1),
    { type: "step-end", nodeId: "n0", step: 1, observation: "2000000\n" },
    { type: "limit-warning", nodeId: "n0", axis: "tokens", used: 8000, limit: 10_000 },
    nodeEnd("n0", "42"),
    runEnd(runId),
  ];
  return bare.map(numberer(runId));
}

export async function record(events: readonly RunEvent[], runId: RunId, options: RunLogOptions): Promise<void> {
  await using log = new RunLogWriter(runId, options);
  for (const event of events) log.write(event);
}

export async function readAll(runId: string, folder: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of (await readRun(runId, { folder })).events()) events.push(await event.whole());
  return events;
}

/** Without deltas. */
export function recorded(events: readonly RunEvent[]): RunEvent[] {
  return events.filter(({ type }) => type !== "model-call-delta" && type !== "output-delta");
}

/** The size of all files in a folder. */
export function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => lstatSync(join(folder, name)))
    .filter((stat) => stat.isFile())
    .reduce((sum, { size }) => sum + size, 0);
}
