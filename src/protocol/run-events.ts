// What happens in a run, as plain data: the events one watches live are the events that are recorded.

import { z } from "zod";
import { executionResult, outputStream } from "./execution.ts";
import { runId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";
import { ledgerAxis, ledgerLimits, runResult, runStatus, stopReason } from "./runs.ts";
import { modelUsage } from "./usage.ts";

const runEventFields = {
  runId,
  /** Counts up by one within a run. */
  seq: z.number(),
  /** Milliseconds since the epoch. */
  time: z.number(),
};
const nodeEventFields = { ...runEventFields, nodeId: z.string() };

const runStart = z.object({
  ...runEventFields,
  type: z.literal("run-start"),
  query: z.string(),
  model: z.string(),
  subModel: z.string(),
  limits: ledgerLimits,
  maxDepth: z.number(),
});

const nodeStart = z.object({
  ...nodeEventFields,
  type: z.literal("node-start"),
  /** Null for the root. */
  parentId: z.string().nullable(),
  depth: z.number(),
  query: z.string(),
  model: z.string(),
  context: z.array(z.object({ name: z.string(), kind: z.string(), bytes: z.number() })),
  /** Too deep for a session of its own: it is a single model call. */
  isDegraded: z.boolean(),
});

const stepFields = { ...nodeEventFields, step: z.number() };

/** A model is called by the loop of a node (`step`), by code (`query`), for the best answer at a limit (`extract`), or without a session (`direct`). */
export const modelCallStart = z.object({
  ...stepFields,
  type: z.literal("model-call-start"),
  callId: z.string(),
  purpose: z.enum(["step", "query", "extract", "direct"]),
  /** The number of the call within its node and step, in order of request. */
  ordinal: z.number(),
  backend: z.string(),
  model: z.string(),
  /** SHA-256 of the request as canonical JSON. */
  requestHash: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
});
export type ModelCallStart = Shape<typeof modelCallStart>;

const modelCallDelta = z.object({
  ...nodeEventFields,
  type: z.literal("model-call-delta"),
  callId: z.string(),
  text: z.string(),
  kind: z.enum(["text", "reasoning"]),
});

export const modelCallEnd = z.object({
  ...nodeEventFields,
  type: z.literal("model-call-end"),
  callId: z.string(),
  ok: z.boolean(),
  text: z.string(),
  reasoning: z.string(),
  finishReason: z.string(),
  isCached: z.boolean(),
  /** We ended the answer, because its first block of code was complete. */
  isCut: z.boolean(),
  usage: modelUsage,
  error: z.string().nullable(),
  durationMs: z.number(),
});
export type ModelCallEnd = Shape<typeof modelCallEnd>;

/** Displays are not recorded. */
const recordedResult = executionResult.omit({ displays: true });

const limitFields = { ...nodeEventFields, axis: ledgerAxis, used: z.number(), limit: z.number() };

export const runEvent = z.discriminatedUnion("type", [
  runStart,
  nodeStart,
  z.object({ ...stepFields, type: z.literal("step-start") }),
  modelCallStart,
  modelCallDelta,
  modelCallEnd,
  z.object({ ...stepFields, type: z.literal("code-start"), code: z.string() }),
  z.object({
    ...stepFields,
    type: z.literal("output-delta"),
    stream: outputStream,
    text: z.string(),
  }),
  z.object({ ...stepFields, type: z.literal("code-end"), result: recordedResult }),
  z.object({
    ...nodeEventFields,
    type: z.literal("tool-call-start"),
    callId: z.string(),
    tool: z.string(),
    args: z.unknown().optional(),
  }),
  z.object({
    ...nodeEventFields,
    type: z.literal("tool-call-end"),
    callId: z.string(),
    ok: z.boolean(),
    result: z.unknown().optional(),
    durationMs: z.number(),
  }),
  /** `observation`: what the model is shown of the step. */
  z.object({ ...stepFields, type: z.literal("step-end"), observation: z.string() }),
  z.object({ ...limitFields, type: z.literal("limit-warning") }),
  z.object({ ...limitFields, type: z.literal("limit-reached") }),
  z.object({
    ...nodeEventFields,
    type: z.literal("node-end"),
    status: runStatus,
    stopReason,
    answer: z.string().nullable(),
    usage: modelUsage,
  }),
  z.object({ ...runEventFields, type: z.literal("run-end"), result: runResult }),
  /** For a reader that is too slow or comes too late: the events after the number `after` up to `seq` are left out. Never recorded. */
  z.object({ ...runEventFields, type: z.literal("event-gap"), after: z.number() }),
]);
export type RunEvent = Shape<typeof runEvent>;

/** Null where it is not an event that this version knows. Unknown fields are kept. */
export function parseRunEvent(value: unknown): RunEvent | null {
  return runEvent.safeParse(value).success ? (value as RunEvent) : null;
}
