// Requests and responses about sessions.

import { z } from "zod";
import { newSessionId } from "../id-schemas.ts";
import { sessionInfo } from "../sessions.ts";
import { durationMs, environmentVariables, next } from "./parameters.ts";

export const openSessionBody = z
  .strictObject({
    id: newSessionId.optional().describe("Default: a random id. An id in use is refused"),
    environment: z.string().min(1).max(100).optional().describe("Where it runs. Default: the server's"),
    env: environmentVariables.optional(),
    cwd: z.string().min(1).max(4000).optional(),
    argv: z.array(z.string()).max(1000).optional().describe("`sys.argv`"),
    limits: z
      .strictObject({
        memoryBytes: z.int().positive().optional(),
        diskBytes: z.int().positive().optional(),
        processes: z.int().positive().optional(),
        openFiles: z.int().positive().optional(),
        branches: z.int().min(0).optional(),
      })
      .optional()
      .describe("At most the server's own"),
    idleTimeoutMs: durationMs
      .optional()
      .describe("Idle time after which the session closes. Null: never. Default: 300,000"),
    autoCheckpoint: z
      .union([z.boolean(), z.int().min(0).max(50)])
      .optional()
      .describe("Keep checkpoints from before the last executions, to undo them. A number says how many; true: 10"),
    includeStdlib: z.boolean().optional().describe("Load the standard library. Default: true"),
  })
  .meta({ id: "OpenSessionRequest" });

export const sessionList = z.object({ sessions: z.array(sessionInfo), next }).meta({ id: "SessionList" });
