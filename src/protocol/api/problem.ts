// Errors as clients see them: RFC 9457.

import { z } from "zod";
import type { Shape } from "../shape.ts";

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    facts: z
      .record(z.string(), z.unknown())
      .exactOptional()
      .describe(
        "What the error knows besides its text, such as `{ sessionId, waiting }`, by the names of its fields in the SDK",
      ),
    requestId: z.string().exactOptional(),
  })
  .meta({ id: "Problem", description: "An error (RFC 9457). `code` is stable; `detail` is for people" });

/** The part of a problem that is sent where no HTTP status is. */
export const problemSummary = problem.pick({ status: true, code: true, detail: true, facts: true });
export type ProblemSummary = Shape<typeof problemSummary>;
