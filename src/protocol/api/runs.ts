// Query parameters of the routes for runs. What they send and receive is in protocol/runs.ts.

import { z } from "zod";
import { wholeNumber } from "./parameters.ts";

export const runsQuery = z.strictObject({
  limit: wholeNumber.optional().describe("How many. Default: 50; 1,000 at most"),
});

export const runQuery = z.strictObject({
  waitMs: wholeNumber.optional().describe("Wait at most this long for its end; 60,000 at most"),
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
