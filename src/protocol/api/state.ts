// Requests and responses about forks, checkpoints and session files.

import { z } from "zod";
import { newSessionId } from "../id-schemas.ts";
import { loadReport } from "../session-manifest.ts";
import { checkpoint, sessionInfo } from "../sessions.ts";
import { flag, wholeNumber } from "./parameters.ts";

export const forkBody = z
  .strictObject({ id: newSessionId.optional().describe("The id of the copy. Default: a random id") })
  .meta({ id: "ForkRequest" });

export const checkpointList = z.object({ checkpoints: z.array(checkpoint) }).meta({ id: "CheckpointList" });

export const rewindBody = z
  .strictObject({ checkpoint: z.string().max(100).optional().describe("Its id. Absent: undo the last execution") })
  .meta({ id: "RewindRequest" });

const timeoutMs = wholeNumber
  .optional()
  .describe("Limit on the operation, without its time in the queue. Default: 55,000");

export const saveQuery = z.strictObject({ timeoutMs });

export const loadQuery = z.strictObject({
  id: newSessionId.optional(),
  idleTimeoutMs: z
    .union([wholeNumber, z.literal("null").transform(() => null)])
    .optional()
    .describe("As for a new session; `null`: never"),
  autoCheckpoint: wholeNumber
    .refine((count) => count <= 50, "must be 50 at most")
    .optional()
    .describe("How many checkpoints to keep for undoing executions. Default: 0"),
  includeStdlib: flag.optional(),
  timeoutMs,
});

export const loadAnswer = z.object({ session: sessionInfo, loaded: loadReport }).meta({ id: "LoadedSession" });
