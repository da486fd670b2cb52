// Recursive runs: what is asked, and what comes back.

import { z } from "zod";
import { wholeNumber } from "../../../protocol/api/parameters.ts";

const MAX_WAIT_MS = 60_000;
const MAX_SCHEMA_CHARACTERS = 256 * 1024;
const modelName = z.string().min(1).max(200);
const amount = z.number().positive();

export const startRunBody = z
  .strictObject({
    query: z.string().regex(/\S/, "must be a question"),
    context: z.unknown().optional().describe("The material: a string is text, anything else is data, as JSON has it"),
    model: modelName.optional().describe("Of the root and of nodes below it. Default: the server's"),
    subModel: modelName.optional().describe("Answers `llm_query`. Default: the server's"),
    mode: z.enum(["auto", "rlm", "direct"]).optional().describe("Default: the server's"),
    schema: z
      .record(z.string(), z.unknown())
      .refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS, "must have at most 256 KiB")
      .optional()
      .describe(
        "JSON Schema: the form of the answer, as `data`. Regular expressions in it are told to the model, and not checked",
      ),
    limits: z
      .strictObject({
        maxDepth: z.int().min(0).optional(),
        maxIterations: z.int().min(1).optional(),
        tokens: amount.optional(),
        costUsd: amount.optional(),
        llmCalls: amount.optional(),
        toolCalls: amount.optional(),
        wallMs: amount.optional(),
        iterations: amount.optional(),
      })
      .optional()
      .describe("No more than the server's own"),
    waitMs: z.int().min(0).max(MAX_WAIT_MS).optional().describe("Wait for its end, for so long at most. Default: 0"),
  })
  .meta({ id: "StartRunRequest" });

const spent = z
  .strictObject({
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
    reasoningTokens: z.number(),
    tokens: z.number().describe("Input and output"),
    estimatedTokens: z.number().describe("How many of them are a guess, because nobody told"),
    costUsd: z.number().nullable().describe("Null: a price is not known"),
    llmCalls: z.number(),
    toolCalls: z.number(),
    iterations: z.number(),
    cachedCalls: z.number(),
  })
  .meta({ id: "Spent" });

const status = z.enum(["final", "partial", "failed", "cancelled"]);
const stopReason = z.enum([
  "answered",
  "tokens",
  "costUsd",
  "llmCalls",
  "toolCalls",
  "wallMs",
  "iterations",
  "error",
  "cancelled",
]);

const runResult = z
  .strictObject({
    runId: z.string(),
    status,
    stopReason,
    answer: z.string().nullable(),
    data: z.unknown().optional().describe("The answer as data. Absent: it has none"),
    why: z.string().nullable(),
    usage: z.strictObject({
      total: spent,
      byModel: z.record(z.string(), spent),
      byNode: z.record(z.string(), spent),
      wallMs: z.number(),
    }),
  })
  .meta({ id: "RunResult" });

const infoFields = {
  id: z.string(),
  query: z.string().describe("The question, or how it begins"),
  model: z.string(),
  subModel: z.string(),
  status: z
    .enum(["running", ...status.options, "broken"])
    .describe("`broken`: whoever ran it is gone, and there is no end"),
  stopReason: stopReason.nullable(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  wallMs: z.number().nullable(),
  usage: spent.nullable().describe("In all. Null: it goes on, or broke"),
};

export const run = z
  .strictObject({ ...infoFields, result: runResult.nullable().describe("Null: it has not ended, or broke") })
  .meta({ id: "Run" });

export const runList = z
  .strictObject({
    runs: z.array(z.strictObject(infoFields).meta({ id: "RunInfo" })),
    total: z.int().describe("How many there are"),
  })
  .meta({ id: "RunList" });

export const runsQuery = z.strictObject({
  limit: wholeNumber.optional().describe("How many. Default: 50; 1,000 at most"),
});

export const runQuery = z.strictObject({
  waitMs: wholeNumber.optional().describe("Wait for its end, for so long at most; 60,000 at most"),
});

export const runEventsQuery = z.strictObject({
  after: wholeNumber.optional().describe("The number of the last event that was seen; `Last-Event-ID` says the same"),
  texts: z
    .enum(["whole", "references"])
    .default("whole")
    .describe(
      "`references`: as recorded, with `{ $blob, bytes, head }` in place of long texts, see `/blobs`; no deltas",
    ),
});
