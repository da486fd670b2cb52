// The outline of a run: its nodes, and what took time in each, without the texts. It is small enough to be sent at once.
// Texts are read by range: the events of a node, and long texts by their hash. `outline-builder.ts` makes it from events.

import { z } from "zod";
import { outputStream } from "../execution.ts";
import { runId } from "../id-schemas.ts";
import type { Shape } from "../shape.ts";
import { ledgerAxis, ledgerLimits, runStatus, stopReason } from "../runs.ts";

const milliseconds = z.number().describe("Milliseconds since the epoch");
const batch = z
  .object({
    id: z.string().describe("The batch within its node"),
    ordinal: z.int().describe("The number in the batch, from 1"),
    size: z.int().describe("How many the batch has"),
  })
  .exactOptional()
  .describe("Where code asked for several at once. Absent: it asked for one");

export const outlineNode = z
  .object({
    id: z.string().describe("`n0` is the root"),
    parentId: z.string().nullable().describe("Null for the root"),
    parentStep: z.int().nullable().describe("The step of the parent that started it. Null for the root, or not known"),
    depth: z.int().describe("Nodes with a session above this one"),
    query: z.string().describe("The first 200 characters of its question"),
    model: z.string().describe("The name of its model"),
    isDegraded: z.boolean().describe("Too deep for a session of its own: it is a single model call"),
    batch,
    startedAt: milliseconds,
    endedAt: milliseconds.nullable().describe("Null: it has not ended"),
    status: runStatus.nullable().describe("Null: it has not ended"),
    stopReason: stopReason.nullable().describe("Null: it has not ended"),
    answer: z.string().nullable().describe("The first 200 characters of its answer. Null: it has none"),
    steps: z.int().describe("Steps so far"),
    firstSeq: z.int().describe("The number of its first event"),
    lastSeq: z.int().describe("The number of its last event so far"),
    inputTokens: z.int().describe("Of its own model calls"),
    outputTokens: z.int().describe("Of its own model calls"),
    costUsd: z.number().nullable().describe("Of its own model calls. Null: a price is not known"),
    llmCalls: z.int().describe("Its own model calls"),
    toolCalls: z.int().describe("Its own calls of tools"),
  })
  .describe("A node of a run");
export type OutlineNode = Shape<typeof outlineNode>;

export const outlineSpan = z
  .object({
    kind: z.enum(["model", "code", "tool"]).describe("A model call, the run of a block of code, or a call of a tool"),
    nodeId: z.string().describe("The node"),
    step: z.int().nullable().describe("The step of the node. Null: not known"),
    seq: z.int().describe("The number of the event that began it"),
    endSeq: z.int().nullable().describe("The number of the event that ended it. Null: it has not ended"),
    callId: z.string().nullable().describe("Of a model or a tool. Null: it is code"),
    startedAt: milliseconds,
    endedAt: milliseconds.nullable().describe("Null: it has not ended"),
    ok: z
      .boolean()
      .nullable()
      .describe("Whether it succeeded. Code that answers or calls `exit(0)` does. Null: it has not ended"),
    name: z.string().describe("The model or the tool. Of code: its first line, up to 160 characters"),
    head: z.string().describe("The first 160 characters of the reply, the output or the error"),
    purpose: z.enum(["step", "query", "extract", "direct"]).nullable().describe("Of a model call. Null: it is none"),
    batch,
    inputTokens: z.int().describe("0 where it is no model call"),
    outputTokens: z.int().describe("0 where it is no model call"),
    costUsd: z.number().nullable().describe("Null: not known"),
    isCached: z.boolean().describe("Answered from the cache"),
    isCut: z.boolean().describe("We ended the reply, because its first block of code was complete"),
    waits: z
      .array(
        z.object({
          at: milliseconds,
          delayMs: z.number().describe("How long until the next attempt"),
          fault: z.string().describe("Why, such as `rate-limit`"),
        }),
      )
      .describe("Retries and limits that a model call waited for: at most 100"),
  })
  .describe("Something that took time");
export type OutlineSpan = Shape<typeof outlineSpan>;

export const outlineMark = z
  .object({
    kind: z.enum(["limit-warning", "limit-reached"]).describe("Whether the limit was near or reached"),
    seq: z.int().describe("The number of its event"),
    nodeId: z.string().describe("The node that met it"),
    time: milliseconds,
    axis: ledgerAxis,
    used: z.number().describe("What the whole run had used"),
    limit: z.number().describe("What the whole run may use"),
  })
  .describe("A limit that was met");
export type OutlineMark = Shape<typeof outlineMark>;

export const runOutline = z
  .object({
    runId,
    seq: z.int().describe("The number of the last event that is in it"),
    query: z.string().describe("The first 200 characters of the question"),
    model: z.string().describe("Of the root"),
    subModel: z.string().describe("Answers `llm_query`"),
    limits: ledgerLimits,
    maxDepth: z.int().describe("Nodes with a session below the root"),
    startedAt: milliseconds,
    endedAt: milliseconds.nullable().describe("Null: it has not ended"),
    nodes: z.array(outlineNode).describe("In the order in which they began"),
    spans: z.array(outlineSpan).describe("In the order in which they began"),
    marks: z.array(outlineMark).describe("In order"),
    lostLines: z.int().describe("Lines of the record that are damaged"),
    omitted: z.int().describe("Nodes, spans, waits and marks that are left out, because there are too many"),
  })
  .meta({ id: "RunOutline", description: "The nodes of a run and what took time in each, without texts" });
export type RunOutline = Shape<typeof runOutline>;

export const storedRunEvent = z
  .looseObject({ type: z.string().describe("What happened"), seq: z.int().describe("Counts up within a run") })
  .meta({ id: "StoredRunEvent", description: "An event as recorded, with references for long texts" });
export type StoredRunEvent = Shape<typeof storedRunEvent>;

export const runEventPage = z
  .object({
    events: z
      .array(storedRunEvent)
      .describe("As recorded: `$blob` stands for a long text, `$same` for messages of an earlier call"),
    next: z.int().nullable().describe("Continue with `after` this number. Null: there are no more now"),
  })
  .meta({ id: "RunEventPage", description: "Recorded events of a run, in order" });
export type RunEventPage = Shape<typeof runEventPage>;

export const runMatch = z
  .object({
    seq: z.int().describe("The number of the event"),
    nodeId: z.string().nullable().describe("The node. Null: the run itself"),
    step: z.int().nullable().describe("The step. Null: none, or not known"),
    callId: z.string().nullable().describe("The call. Null: none"),
    field: z
      .enum(["query", "prompt", "reply", "reasoning", "code", "output", "error", "observation", "answer", "tool"])
      .describe("Where it was found"),
    stream: outputStream.exactOptional().describe("Of output"),
    before: z.string().describe("Up to 80 characters before it"),
    text: z.string().describe("What was found"),
    after: z.string().describe("Up to 80 characters after it"),
  })
  .describe("A place where the text was found");
export type RunMatch = Shape<typeof runMatch>;

export const runSearchAnswer = z
  .object({
    matches: z.array(runMatch).describe("In order, one for each text that has it"),
    next: z.int().nullable().describe("Continue with `after` this number. Null: everything was searched"),
  })
  .meta({ id: "RunSearch", description: "Where a text occurs in a run" });
export type RunSearchAnswer = Shape<typeof runSearchAnswer>;
