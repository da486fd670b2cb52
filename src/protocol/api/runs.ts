// Requests about runs. The responses are in protocol/runs.ts.

import { z } from "zod";
import type { Shape } from "../shape.ts";
import { waitMs, wholeNumber } from "./parameters.ts";

const MAX_SCHEMA_CHARACTERS = 256 * 1024;
const modelName = z.string().min(1).max(200);
const amount = z.number().positive().optional();

export const startRunRequest = z
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
        "JSON Schema: the form of the answer, as `data`. Regular expressions in it are shown to the model, and not checked",
      ),
    limits: z
      .strictObject({
        maxDepth: z.int().min(0).optional(),
        maxIterations: z.int().min(1).optional(),
        tokens: amount,
        costUsd: amount,
        llmCalls: amount,
        toolCalls: amount,
        wallMs: amount,
        iterations: amount,
      })
      .optional()
      .describe("No more than the server's own"),
    waitMs,
  })
  .meta({ id: "StartRunRequest" });
export type StartRunRequest = Shape<typeof startRunRequest>;

export const runsQuery = z.strictObject({
  limit: wholeNumber.optional().describe("How many. Default: 50; 1,000 at most"),
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
