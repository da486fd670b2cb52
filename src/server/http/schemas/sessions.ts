// Sessions: what is asked, and what comes back.

import { z } from "zod";
import { durationMs, environmentVariables, sessionId } from "./common.ts";

export const openSessionBody = z
  .strictObject({
    id: sessionId.optional().describe("Default: one that nobody guesses. One that is taken is refused"),
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
      .describe("No more than the server's own"),
    idleTimeoutMs: durationMs.optional().describe("Without use it closes after so long. Null: never. Default: 300,000"),
    autoCheckpoint: z
      .union([z.boolean(), z.int().min(0).max(50)])
      .optional()
      .describe("Keep a checkpoint from before each of the last executions (true: 10), so that they can be undone"),
    includeStdlib: z.boolean().optional().describe("Whether the standard library is there. Default: true"),
  })
  .meta({ id: "OpenSessionRequest" });

export const session = z
  .strictObject({
    id: z.string(),
    environment: z.string(),
    state: z.enum(["idle", "running", "closed"]),
    createdAt: z.iso.datetime(),
    lastExecutedAt: z.iso.datetime().nullable(),
    executionCount: z.int(),
    waiting: z.int().describe("Executions that wait for their turn"),
    epoch: z.int(),
    variableCount: z.int().nullable().describe("Null: the worker did not answer at once"),
    variables: z.array(z.string()).describe("The first 1,000 names"),
    memoryBytes: z.int().nullable(),
    stdlib: z.strictObject({
      loaded: z.boolean(),
      error: z.strictObject({ name: z.string(), value: z.string(), traceback: z.string() }).nullable(),
    }),
  })
  .meta({ id: "Session" });

export const sessionList = z.strictObject({ sessions: z.array(session) }).meta({ id: "SessionList" });

export const interruptAnswer = z
  .strictObject({
    interrupted: z.string().nullable().describe("The execution that ran. Null: nothing did"),
    hasEnded: z.boolean().describe("False: it has not stopped yet; its worker is about to be ended"),
    state: z
      .enum(["kept", "restored", "lost"])
      .nullable()
      .describe("What became of the namespace. Null: not known yet"),
  })
  .meta({ id: "Interrupted" });
