// Requests about runs. The responses are in protocol/runs.ts.

import { z } from "zod";
import { newWorkId } from "../id-schemas.ts";
import type { Shape } from "../shape.ts";
import { runState } from "../runs.ts";
import { pageQuery, waitMs, wholeNumber } from "./parameters.ts";

const MAX_SCHEMA_CHARACTERS = 256 * 1024;
const modelName = z.string().min(1).max(200);
const amount = z.number().positive().optional();

export const startRunRequest = z
  .strictObject({
    id: newWorkId
      .optional()
      .describe("The id of the run. A repeated request with the same id starts nothing. Default: a random id"),
    query: z.string().regex(/\S/, "must be a question"),
    context: z.unknown().optional().describe("The material: a string is text, anything else is data, as JSON has it"),
    model: modelName.optional().describe("Of the root. Default: the server's"),
    subModel: modelName.optional().describe("Answers `llm_query`. Default: the server's"),
    childModel: modelName.optional().describe("Of nodes below the root. Default: the server's"),
    extractModel: modelName.optional().describe("Gives the best answer at a limit. Default: the server's"),
    temperature: z.number().min(0).optional().describe("Of all models in this run. Default: the server's"),
    seed: z
      .int()
      .optional()
      .describe("Makes sampling repeatable where the provider can. Of all models in this run. Default: the server's"),
    mode: z.enum(["auto", "rlm", "direct"]).optional().describe("Default: the server's"),
    onLimit: z
      .enum(["partial", "throw"])
      .optional()
      .describe("At a limit: the best answer that there is, or a `problem`. Default: `partial`"),
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

const part = z.string().min(1).max(200);
const variable = z.string().min(1).max(200);
const MAX_PARTS = 1000;
/** In all parts together. */
export const MAX_FILES = 100_000;
const fileName = z.string().max(4000);

/** The part `request` of a form. Other parts are the context. */
export const runFormRequest = z
  .strictObject({
    ...startRunRequest.shape,
    parts: z
      .array(
        z.union([
          z.strictObject({ part, variable, as: z.enum(["text", "json"]).default("text") }),
          z.strictObject({ part, variable, file: fileName }),
          z.strictObject({
            part,
            variable,
            files: z
              .array(z.strictObject({ name: fileName, size: z.int().min(0) }))
              .min(1)
              .max(MAX_FILES),
            folder: z.string().max(200).optional().describe("The name of the folder they are in, for the model"),
          }),
        ]),
      )
      .max(MAX_PARTS)
      .optional()
      .describe(
        "What other parts are, by their names: a variable; a value in a dict under the name of a file; or the contents of several " +
          "files, one after the other, with their sizes in bytes",
      ),
  })
  .meta({ id: "RunFormRequest" });

export const runsQuery = z.strictObject({
  ...pageQuery.shape,
  status: runState.optional(),
  text: z.string().min(1).max(500).optional().describe("In the question, without regard to case"),
});

const MAX_EVENTS = 1000;

export const runEventPageQuery = z
  .strictObject({
    after: wholeNumber.optional().describe("The number of the last event that was seen. Default: from the beginning"),
    limit: wholeNumber
      .refine((count) => count >= 1 && count <= MAX_EVENTS, `must be 1 to ${MAX_EVENTS}`)
      .optional()
      .describe("How many at most: 1 to 1,000. Default: 200"),
    nodeId: z.string().max(200).optional().describe("Of this node. Default: of the whole run"),
    step: wholeNumber.optional().describe("Of this step of the node. Default: all steps"),
  })
  .refine(({ nodeId, step }) => step === undefined || nodeId !== undefined, "`step` needs `nodeId`");

export const runSearchQuery = z.strictObject({
  text: z.string().min(1).max(500).describe("What is looked for, without regard to case"),
  after: wholeNumber.optional().describe("`next` of the answer before. Default: from the beginning"),
  limit: wholeNumber
    .refine((count) => count >= 1 && count <= MAX_EVENTS, `must be 1 to ${MAX_EVENTS}`)
    .optional()
    .describe("After so many matches the answer ends, with those of the same event: 1 to 1,000. Default: 100"),
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
