// Parameters that several tools share.

import { z } from "zod";

/** The longest that timers support. */
const MAX_SECONDS = 2_000_000;
/** Characters in a result. */
const LEAST_OUTPUT = 200;
const MOST_OUTPUT = 100_000;

export const code = z.string();
export const sessionId = z.string();
export const optionalSessionId = z.string().optional().describe("default: 'default'");
export const timeout = z.int().min(1).max(MAX_SECONDS).optional().describe("seconds, default 600");
export const shellTimeout = z.int().min(1).max(MAX_SECONDS).optional().describe("seconds, default none");
export const maxOutput = z
  .int()
  .min(LEAST_OUTPUT)
  .max(MOST_OUTPUT)
  .optional()
  .describe("characters shown, default 10000");
