// Copies of sessions, checkpoints and session files: what is asked, and what comes back.

import { z } from "zod";
import { flag, sessionId, wholeNumber } from "./common.ts";
import { session } from "./sessions.ts";

export const forkBody = z
  .strictObject({ id: sessionId.optional().describe("Of the copy. Default: one that nobody guesses") })
  .meta({ id: "ForkRequest" });

export const checkpoint = z
  .strictObject({
    id: z.string(),
    createdAt: z.iso.datetime(),
    executionCount: z.int().describe("How many executions the session had had"),
    isAutomatic: z.boolean().describe("Taken before an execution by itself, and given up when there are too many"),
  })
  .meta({ id: "Checkpoint" });

export const checkpointList = z.strictObject({ checkpoints: z.array(checkpoint) }).meta({ id: "CheckpointList" });

export const rewindBody = z
  .strictObject({
    checkpoint: z.string().max(100).optional().describe("Its id. Absent: undo the last execution"),
  })
  .meta({ id: "RewindRequest" });

const timeoutMs = wholeNumber.optional().describe("For the work itself, when its turn has come. Default: 55,000");

export const saveQuery = z.strictObject({ timeoutMs });

const skipped = z.array(z.strictObject({ name: z.string(), why: z.string() }));

export const loadQuery = z.strictObject({
  id: sessionId.optional(),
  idleTimeoutMs: z
    .union([wholeNumber, z.literal("null").transform(() => null)])
    .optional()
    .describe("As for a new session; `null`: never"),
  autoCheckpoint: wholeNumber
    .refine((count) => count <= 50, "must be 50 at most")
    .optional()
    .describe("How many checkpoints are kept to undo executions with. Default: 0"),
  includeStdlib: flag.optional(),
  timeoutMs,
});

export const loadAnswer = z
  .strictObject({
    session,
    loaded: z.strictObject({
      names: z.array(z.string()),
      count: z.int(),
      skipped: skipped.describe("What is in the file and could not be brought back, and why"),
    }),
  })
  .meta({ id: "LoadedSession" });
