// Parts that several requests share. Request bodies are strict: a misspelt field is refused instead of ignored.

import { z } from "zod";

const MAX_WAIT_MS = 60_000;
export const waitMs = z.int().min(0).max(MAX_WAIT_MS).optional().describe("Wait this long for the end. Default: 0");

/** Null: no limit. Timers cannot wait longer than 24 days. */
export const durationMs = z.number().positive().max(2_000_000_000).nullable();

const MAX_VARIABLES = 1000;
const environmentName = z.string().regex(/^[^=\0]+$/, "must be a name without '=' and NUL");
const environmentValue = z.string().regex(/^[^\0]*$/, "must not hold NUL");
export const environmentVariables = z
  .record(environmentName, environmentValue)
  .refine((all) => Object.keys(all).length <= MAX_VARIABLES, `must be at most ${MAX_VARIABLES} variables`);

// Query parameters arrive as text.
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number);

const MAX_LISTED = 1000;

/** Which part of a list. */
export const pageQuery = z.strictObject({
  limit: wholeNumber
    .refine((count) => count >= 1 && count <= MAX_LISTED, `must be 1 to ${MAX_LISTED}`)
    .optional()
    .describe("How many at most: 1 to 1,000. Default: 100"),
  after: z.string().max(500).optional().describe("`next` of the page before. Default: the first page"),
});
export const next = z.string().nullable().describe("For `after`. Null: this is the last page");

export const waitQuery = z.strictObject({
  waitMs: wholeNumber
    .transform((ms) => Math.min(ms, MAX_WAIT_MS))
    .optional()
    .describe("Wait this long for the end; at most 60,000"),
});
