// What happens in a run, as plain data: the events one watches live are the events that are recorded.

import { z } from "zod";
import { outputStream, recordedResult } from "./execution.ts";
import { runId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";
import { ledgerAxis, ledgerLimits, runResult, runStatus, stopReason } from "./runs.ts";
import { modelUsage } from "./usage.ts";

const runEventFields = {
  runId,
  seq: z.number().describe("Counts up by one within a run"),
  time: z.number().describe("Milliseconds since the epoch"),
};
const nodeEventFields = { ...runEventFields, nodeId: z.string().describe("The node; `n0` is the root") };
const callId = z.string().describe("The id of the call, the same at its start and its end");
const durationMs = z.number().describe("How long it took");
const model = z.string().describe("The name of the model");
const query = z.string().describe("The question");
const batch = z
  .object({
    id: z.string().describe("The batch within its node"),
    ordinal: z.int().describe("The number in the batch, from 1"),
    size: z.int().describe("How many the batch has"),
  })
  .exactOptional()
  .describe("Where code asked for several at once. Absent: it asked for one");

const runStart = z.object({
  ...runEventFields,
  type: z.literal("run-start"),
  query,
  model: z.string().describe("Of the root"),
  subModel: z.string().describe("Answers `llm_query`"),
  childModel: z.string().describe("Of nodes below the root"),
  extractModel: z.string().nullable().describe("Gives the best answer at a limit. Null: the model of the node"),
  limits: ledgerLimits,
  maxDepth: z.number().describe("Nodes with a session below the root"),
  strategy: z
    .object({
      name: z.string().describe("Its name"),
      digest: z.string().describe("Tells strategies of the same name apart"),
    })
    .describe("How the root is asked, and what it is shown"),
});

const nodeStart = z.object({
  ...nodeEventFields,
  type: z.literal("node-start"),
  parentId: z.string().nullable().describe("Null for the root"),
  depth: z.number().describe("Nodes with a session above this one"),
  query,
  model,
  context: z
    .array(
      z.object({
        name: z.string().describe("The variable"),
        kind: z.string().describe("What it holds"),
        bytes: z.number().describe("Its size"),
        files: z.number().exactOptional().describe("How many files it has, if it holds files"),
      }),
    )
    .describe("The material of the node"),
  isDegraded: z.boolean().describe("Too deep for a session of its own: it is a single model call"),
  batch,
});

const stepFields = { ...nodeEventFields, step: z.number().describe("The number of the step in its node") };

export const modelCallStart = z
  .object({
    ...stepFields,
    type: z.literal("model-call-start"),
    callId,
    purpose: z
      .enum(["step", "query", "extract", "direct"])
      .describe("Called by the loop of a node, by code, for the best answer at a limit, or without a session"),
    ordinal: z.number().describe("The number of the call within its node and step, in order of request"),
    backend: z.string().describe("What answers"),
    model,
    requestHash: z.string().describe("SHA-256 of the request as canonical JSON"),
    messages: z
      .array(z.object({ role: z.string().describe("Who says it"), content: z.string().describe("Its text") }))
      .describe("The conversation"),
    batch,
  })
  .describe("A model is called");
export type ModelCallStart = Shape<typeof modelCallStart>;
export type Batch = NonNullable<ModelCallStart["batch"]>;

const modelCallDelta = z.object({
  ...nodeEventFields,
  type: z.literal("model-call-delta"),
  callId,
  text: z.string().describe("What was added"),
  kind: z.enum(["text", "reasoning"]).describe("Whether it is part of the answer"),
});

const modelCallWait = z.object({
  ...nodeEventFields,
  type: z.literal("model-call-wait"),
  callId,
  fault: z
    .string()
    .describe(
      "Why the call waits, such as `rate-limit`, `server`, `connection` or `timeout`; `length`: its answer was cut off, and it is asked for more",
    ),
  delayMs: z.number().describe("How long until the next attempt, about, where it waits for a rate limit"),
  attempts: z.int().describe("Attempts so far. What they answered is void"),
  error: z.string().nullable().describe("Why the last attempt failed. Null: the call waits for a rate limit"),
});

export const modelCallEnd = z
  .object({
    ...nodeEventFields,
    type: z.literal("model-call-end"),
    callId,
    ok: z.boolean().describe("False: there is no answer; see `error`"),
    text: z.string().describe("The answer"),
    reasoning: z.string().describe("Reasoning that the provider shows"),
    finishReason: z.string().describe("Why the answer ended"),
    isCached: z.boolean().describe("It was answered from the cache"),
    isCut: z.boolean().describe("We ended the answer, because its first block of code was complete"),
    usage: modelUsage,
    error: z.string().nullable().describe("Null: it succeeded"),
    durationMs,
  })
  .describe("A model has answered, or failed");
export type ModelCallEnd = Shape<typeof modelCallEnd>;

export const printedPart = z
  .object({ stream: outputStream, characters: z.int().describe("How much of the text of its stream") })
  .describe("A piece of what code printed, in print order");
export type PrintedPart = Shape<typeof printedPart>;

const limitFields = {
  ...nodeEventFields,
  axis: ledgerAxis,
  used: z.number().describe("What the whole run has used"),
  limit: z.number().describe("What the whole run may use"),
};

export const runEvent = z
  .discriminatedUnion("type", [
    runStart,
    nodeStart,
    z.object({ ...stepFields, type: z.literal("step-start") }),
    modelCallStart,
    modelCallDelta,
    modelCallWait,
    modelCallEnd,
    z.object({ ...stepFields, type: z.literal("code-start"), code: z.string().describe("The code that runs") }),
    z.object({
      ...stepFields,
      type: z.literal("output-delta"),
      stream: outputStream,
      text: z.string().describe("What was printed"),
    }),
    z.object({
      ...stepFields,
      type: z.literal("code-end"),
      result: recordedResult.describe("Without displays"),
      order: z
        .array(printedPart)
        .exactOptional()
        .describe("The order in which both streams were printed. Absent: only one was, or output was cut"),
    }),
    z.object({
      ...nodeEventFields,
      type: z.literal("tool-call-start"),
      callId,
      tool: z.string().describe("The name of the tool"),
      args: z.unknown().optional().describe("What it is called with"),
    }),
    z.object({
      ...nodeEventFields,
      type: z.literal("tool-call-end"),
      callId,
      ok: z.boolean().describe("False: it threw an error"),
      result: z.unknown().optional().describe("What it returned, or the error"),
      durationMs,
    }),
    z.object({
      ...stepFields,
      type: z.literal("step-end"),
      observation: z.string().describe("What the model is shown of the step"),
    }),
    z.object({
      ...stepFields,
      type: z.literal("compaction"),
      replaced: z.int().describe("How many of the node's steps are in the summary now"),
      tokensBefore: z.int().describe("Of the conversation, estimated"),
      tokensAfter: z.int().describe("With the summary, estimated"),
    }),
    z.object({ ...limitFields, type: z.literal("limit-warning") }),
    z.object({ ...limitFields, type: z.literal("limit-reached") }),
    z.object({
      ...nodeEventFields,
      type: z.literal("node-end"),
      status: runStatus,
      stopReason,
      answer: z.string().nullable().describe("Null: there is none"),
      usage: modelUsage,
    }),
    z.object({ ...runEventFields, type: z.literal("run-end"), result: runResult }),
    /** For a reader that is too slow or comes too late: the events after the number `after` up to `seq` are left out. Never recorded. */
    z.object({
      ...runEventFields,
      type: z.literal("event-gap"),
      after: z.number().describe("The number of the last event before the gap"),
    }),
  ])
  .describe("What happens in a run; `type` says what");
export type RunEvent = Shape<typeof runEvent>;

/** Null where it is not an event that this version knows. Unknown fields are kept. */
export function parseRunEvent(value: unknown): RunEvent | null {
  return runEvent.safeParse(value).success ? (value as RunEvent) : null;
}
