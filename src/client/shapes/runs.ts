// Recursive runs: their state, results and events.

import type { RunId } from "../../protocol/ids.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type {
  OutlineNode,
  OutlineSpan,
  RunEventPage,
  RunMatch,
  RunOutline,
  RunSearchAnswer,
} from "../../protocol/run-outline/run-outline.ts";
import type { RunInfo, RunResult } from "../../protocol/runs.ts";
import type { ModelUsage } from "../../protocol/usage.ts";
import { problem, type Problem } from "../net/problem.ts";
import {
  array,
  boolean,
  idOf,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  unknown,
  variants,
  type Check,
} from "./check.ts";
import { outputStream, recordedResult } from "./executions.ts";

const modelUsage: Check<ModelUsage> = object<ModelUsage>({
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number,
  cacheWriteTokens: number,
  reasoningTokens: number,
  tokens: number,
  estimatedTokens: number,
  costUsd: nullable(number),
  llmCalls: number,
  toolCalls: number,
  iterations: number,
  cachedCalls: number,
});
const axis = oneOf("tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations");
const status = oneOf("final", "partial", "failed", "cancelled");
const stopReason = oneOf(
  "answered",
  "tokens",
  "costUsd",
  "llmCalls",
  "toolCalls",
  "wallMs",
  "iterations",
  "error",
  "cancelled",
);

export const runResult: Check<RunResult> = object<RunResult>({
  runId: idOf<RunId>(),
  status,
  stopReason,
  answer: nullable(string),
  data: optional(unknown),
  why: nullable(string),
  usage: object({
    total: modelUsage,
    byModel: record(modelUsage),
    byRole: object({
      root: optional(modelUsage),
      child: optional(modelUsage),
      sub: optional(modelUsage),
      extract: optional(modelUsage),
    }),
    byNode: record(modelUsage),
    wallMs: number,
  }),
});

const info = {
  id: string,
  query: string,
  model: string,
  subModel: string,
  status: oneOf("running", "final", "partial", "failed", "cancelled", "broken"),
  stopReason: nullable(stopReason),
  startedAt: string,
  endedAt: nullable(string),
  wallMs: nullable(number),
  usage: nullable(modelUsage),
  notRecorded: optional(string),
};
export const runInfo: Check<RunInfo> = object<RunInfo>(info);

/** A run with its result, or with why it rejected. */
export interface RunView extends RunInfo {
  readonly result: RunResult | null;
  readonly problem?: Problem;
}
export const run: Check<RunView> = object<RunView>({
  ...info,
  result: nullable(runResult),
  problem: optional(problem),
});

const base = { runId: string, seq: number, time: number };
const node = { ...base, nodeId: string };
const step = { ...node, step: number };
const batch = optional(object({ id: string, ordinal: number, size: number }));
const purpose = oneOf("step", "query", "extract", "direct");
const limit = object({ ...node, axis, used: number, limit: number });
export const runEvent = variants<RunEvent>("type", {
  "run-start": object({
    ...base,
    query: string,
    model: string,
    subModel: string,
    childModel: string,
    extractModel: nullable(string),
    limits: record(number),
    maxDepth: number,
    strategy: object({ name: string, digest: string }),
  }),
  "node-start": object({
    ...node,
    parentId: nullable(string),
    depth: number,
    query: string,
    model: string,
    context: array(object({ name: string, kind: string, bytes: number, files: optional(number) })),
    isDegraded: boolean,
    batch,
  }),
  "step-start": object(step),
  "model-call-start": object({
    ...step,
    callId: string,
    purpose,
    ordinal: number,
    backend: string,
    model: string,
    requestHash: string,
    messages: array(object({ role: string, content: string })),
    batch,
  }),
  "model-call-delta": object({ ...node, callId: string, text: string, kind: oneOf("text", "reasoning") }),
  "model-call-wait": object({
    ...node,
    callId: string,
    fault: string,
    delayMs: number,
    attempts: number,
    error: nullable(string),
  }),
  "model-call-end": object({
    ...node,
    callId: string,
    ok: boolean,
    text: string,
    reasoning: string,
    finishReason: string,
    isCached: boolean,
    isCut: boolean,
    usage: modelUsage,
    error: nullable(string),
    durationMs: number,
  }),
  "code-start": object({ ...step, code: string }),
  "output-delta": object({ ...step, stream: outputStream, text: string }),
  "code-end": object({
    ...step,
    result: recordedResult,
    order: optional(array(object({ stream: oneOf("stdout", "stderr"), characters: number }))),
  }),
  "tool-call-start": object({ ...node, callId: string, tool: string, args: optional(unknown) }),
  "tool-call-end": object({ ...node, callId: string, ok: boolean, result: optional(unknown), durationMs: number }),
  "step-end": object({ ...step, observation: string }),
  compaction: object({ ...step, replaced: number, tokensBefore: number, tokensAfter: number }),
  "limit-warning": limit,
  "limit-reached": limit,
  "node-end": object({ ...node, status, stopReason, answer: nullable(string), usage: modelUsage }),
  "run-end": object({ ...base, result: runResult }),
  "event-gap": object({ ...base, after: number }),
});

const tokens = { inputTokens: number, outputTokens: number, costUsd: nullable(number) };
const span = { startedAt: number, endedAt: nullable(number) };
export const runOutline: Check<RunOutline> = object<RunOutline>({
  ...span,
  runId: idOf<RunId>(),
  seq: number,
  query: string,
  model: string,
  subModel: string,
  limits: record(number),
  maxDepth: number,
  nodes: array(
    object<OutlineNode>({
      ...span,
      ...tokens,
      id: string,
      parentId: nullable(string),
      parentStep: nullable(number),
      depth: number,
      query: string,
      model: string,
      isDegraded: boolean,
      batch,
      status: nullable(status),
      stopReason: nullable(stopReason),
      answer: nullable(string),
      steps: number,
      firstSeq: number,
      lastSeq: number,
      llmCalls: number,
      toolCalls: number,
    }),
  ),
  spans: array(
    object<OutlineSpan>({
      ...span,
      ...tokens,
      kind: oneOf("model", "code", "tool"),
      nodeId: string,
      step: nullable(number),
      seq: number,
      endSeq: nullable(number),
      callId: nullable(string),
      ok: nullable(boolean),
      name: string,
      head: string,
      purpose: nullable(purpose),
      batch,
      isCached: boolean,
      isCut: boolean,
      waits: array(object({ at: number, delayMs: number, fault: string })),
    }),
  ),
  marks: array(
    object({
      kind: oneOf("limit-warning", "limit-reached"),
      seq: number,
      nodeId: string,
      time: number,
      axis,
      used: number,
      limit: number,
    }),
  ),
  lostLines: number,
  omitted: number,
});
export const runEventPage: Check<RunEventPage> = object<RunEventPage>({
  events: array(object({ type: string, seq: number })),
  next: nullable(number),
});

export const runSearchAnswer: Check<RunSearchAnswer> = object<RunSearchAnswer>({
  matches: array(
    object<RunMatch>({
      seq: number,
      nodeId: nullable(string),
      step: nullable(number),
      callId: nullable(string),
      field: oneOf("query", "prompt", "reply", "reasoning", "code", "output", "error", "observation", "answer", "tool"),
      stream: optional(outputStream),
      before: string,
      text: string,
      after: string,
    }),
  ),
  next: nullable(number),
});
