// Parts that several requests and answers have.

import { z } from "zod";

/** Whatever a body does not name is refused, so that a misspelt field is not ignored. */
export const sessionId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be letters, digits, '.', '_', '-', at most 64");

/** No limit: null. Timers cannot wait longer than 24 days. */
export const durationMs = z.number().positive().max(2_000_000_000).nullable();

const environmentName = z.string().regex(/^[^=\0]+$/, "must be a name without '=' and NUL");
const environmentValue = z.string().regex(/^[^\0]*$/, "must not hold NUL");
const MAX_VARIABLES = 1000;
export const environmentVariables = z
  .record(environmentName, environmentValue)
  .refine((all) => Object.keys(all).length <= MAX_VARIABLES, `must be at most ${MAX_VARIABLES} variables`);

/** In a query everything is text. */
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number);
export const stream = z.enum(["stdout", "stderr"]);

export const cut = z
  .strictObject({ total: z.int(), omitted: z.int() })
  .meta({ id: "Cut", description: "How much of something was left out, in bytes (in characters for a value)" });

export const usage = z
  .strictObject({ cpuMs: z.number(), peakMemoryBytes: z.int() })
  .meta({ id: "Usage", description: "Processor time, and peak resident memory" });

export const problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string().optional(),
  })
  .meta({ id: "Problem", description: "What went wrong (RFC 9457); `code` is stable, `detail` is for people" });
