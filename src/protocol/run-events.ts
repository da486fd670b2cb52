// Events of a run that come from a file or a wire, parsed: anybody may have written them.

import type { RunEvent } from "./runs.ts";

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

/** Null where it is not an event that this version knows. Fields that it does not know are kept. */
export function parseRunEvent(value: unknown): RunEvent | null {
  if (!isObject(value) || !matches(value, BASE)) return null;
  const type = value["type"] as string;
  if (!Object.hasOwn(SHAPES, type)) return null;
  return matches(value, SHAPES[type] ?? {}) ? (value as unknown as RunEvent) : null;
}

/** Whether it is what has been spent: in a summary of a run, too. */
export function isSpent(value: unknown): boolean {
  return isObject(value) && matches(value, SPENT);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number";
const flag: Check = (value) => typeof value === "boolean";
const anything: Check = () => true;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
const oneOf =
  (...names: string[]): Check =>
  (value) =>
    names.includes(value as string);
const like =
  (shape: Shape): Check =>
  (value) =>
    isObject(value) && matches(value, shape);

function matches(value: Readonly<Record<string, unknown>>, shape: Shape): boolean {
  return Object.entries(shape).every(([name, check]) => check(Object.hasOwn(value, name) ? value[name] : undefined));
}

const BASE: Shape = { type: text, runId: text, seq: number, time: number };

const SPENT: Shape = {
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number,
  cacheWriteTokens: number,
  reasoningTokens: number,
  tokens: number,
  estimatedTokens: number,
  costUsd: orNull(number),
  llmCalls: number,
  toolCalls: number,
  iterations: number,
  cachedCalls: number,
};

const AXIS = oneOf("tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations");
const STATUS = oneOf("final", "partial", "failed", "cancelled");
const STOP_REASON: Check = (value) => AXIS(value) || oneOf("answered", "error", "cancelled")(value);

const RESULT: Shape = {
  runId: text,
  status: STATUS,
  stopReason: STOP_REASON,
  answer: orNull(text),
  why: orNull(text),
  usage: like({ total: like(SPENT), byModel: mapOf(like(SPENT)), byNode: mapOf(like(SPENT)), wallMs: number }),
};

const EXECUTION: Shape = {
  status: oneOf("ok", "error", "interrupted", "exit"),
  stdout: text,
  stderr: text,
  value: orAbsent(mapOf(text)),
  error: orAbsent(like({ name: text, value: text, traceback: text })),
  state: oneOf("kept", "restored", "lost"),
  durationMs: number,
};

const SHAPES: Readonly<Record<string, Shape>> = {
  "run-start": { query: text, model: text, subModel: text, limits: mapOf(number), maxDepth: number },
  "node-start": {
    nodeId: text,
    parentId: orNull(text),
    depth: number,
    query: text,
    model: text,
    context: listOf(like({ name: text, kind: text, bytes: number })),
    isDegraded: flag,
  },
  "model-call-start": {
    nodeId: text,
    callId: text,
    purpose: oneOf("turn", "query", "extract", "direct"),
    turn: number,
    ordinal: number,
    backend: text,
    model: text,
    requestHash: text,
    messages: listOf(like({ role: text, content: text })),
  },
  "model-call-delta": { nodeId: text, callId: text, text, kind: oneOf("text", "reasoning") },
  "model-call-end": {
    nodeId: text,
    callId: text,
    ok: flag,
    text,
    reasoning: text,
    finishReason: text,
    isCached: flag,
    isCut: flag,
    usage: like(SPENT),
    error: orNull(text),
    durationMs: number,
  },
  "step-start": { nodeId: text, turn: number },
  "code-start": { nodeId: text, turn: number, code: text },
  "output-delta": { nodeId: text, turn: number, stream: oneOf("stdout", "stderr"), text },
  "code-end": { nodeId: text, turn: number, result: like(EXECUTION) },
  "step-end": { nodeId: text, turn: number, told: text },
  "tool-call-start": { nodeId: text, callId: text, tool: text, args: anything },
  "tool-call-end": { nodeId: text, callId: text, ok: flag, result: anything, durationMs: number },
  limit: { nodeId: text, axis: AXIS, level: oneOf("warning", "reached"), used: number, limit: number },
  "node-end": { nodeId: text, status: STATUS, stopReason: STOP_REASON, answer: orNull(text), usage: like(SPENT) },
  "run-end": { result: like(RESULT) },
  "event-gap": { after: number },
};
