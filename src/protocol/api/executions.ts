// Requests and responses about executions.

import { z } from "zod";
import { executionResult, historyEntry, outputStream } from "../execution.ts";
import { executionId, newWorkId, sessionId } from "../id-schemas.ts";
import type { Shape } from "../shape.ts";
import { durationMs, environmentVariables, wholeNumber } from "./parameters.ts";
import { problemSummary } from "./problem.ts";
import { openSessionBody } from "./sessions.ts";

const MAX_TIMEOUT_SECONDS = 86_400;

/** Many clients send null for what they leave out. */
export const interpreterBody = z
  .strictObject({
    code: z.string(),
    timeout: z
      .number()
      .min(0)
      .max(MAX_TIMEOUT_SECONDS)
      .nullish()
      .transform((seconds) => seconds || undefined)
      .describe("In seconds. Absent, null or 0: the server's configured timeout, 55 by default"),
    envs: environmentVariables.nullish().transform((variables) => variables ?? {}),
  })
  .meta({ id: "InterpreterRequest" });

export const executeBody = z
  .strictObject({
    id: newWorkId
      .optional()
      .describe("The id of the execution. A repeated request with the same id starts nothing. Default: a random id"),
    code: z.string(),
    timeoutMs: durationMs.optional().describe("Limit on the running time. Null: no limit. Default: 55,000"),
    env: environmentVariables.optional().describe("Environment variables for this execution only"),
    fileName: z.string().min(1).max(1000).optional().describe("The name of the code in tracebacks"),
    input: z
      .enum(["none", "ask"])
      .default("none")
      .describe("`ask`: `input()` waits for a line from a client. `none`: it reads the end of input"),
    variables: z.boolean().default(false).describe("Also return the namespace after the execution"),
    onDisconnect: z
      .enum(["continue", "interrupt"])
      .default("continue")
      .describe("What happens to the code if the client disconnects before the response"),
  })
  .meta({ id: "ExecuteRequest" });
export type ExecuteBody = Shape<typeof executeBody>;

export const oneOffBody = z
  .strictObject({
    ...executeBody.omit({ variables: true }).shape,
    ...openSessionBody.pick({ environment: true, cwd: true, argv: true, limits: true, includeStdlib: true }).shape,
  })
  .meta({ id: "OneOffRequest" });
export type OneOffBody = Shape<typeof oneOffBody>;

export const execution = z
  .object({
    id: executionId,
    sessionId,
    state: z.enum(["waiting", "running", "ended"]),
    startedAt: z.iso.datetime().nullable(),
    outputBytes: z.int().describe("Printed so far, on both streams"),
    result: executionResult.nullable().describe("Null: it has not ended, or the session could not run it"),
    problem: problemSummary.exactOptional().describe("Why the session could not run it; there is no result"),
  })
  .meta({ id: "Execution" });
export type ExecutionView = Shape<typeof execution>;

export const executionFailed = z
  .object({ type: z.literal("execution-failed"), executionId: z.string(), problem: problemSummary })
  .describe("Ends the events of an execution that the session could not run");

export const historyList = z.object({ executions: z.array(historyEntry) }).meta({ id: "ExecutionList" });

export const outputQuery = z.strictObject({
  stream: outputStream.optional().describe("Default: both, in the order in which they were printed"),
  offset: wholeNumber.optional().describe("In bytes. Default: 0"),
  length: wholeNumber.optional().describe("In bytes. Default: 1 MiB; at most 64 MiB"),
});

export const executionOutputQuery = outputQuery.extend({
  sessionId: z.string().max(200).optional().describe("The session that it must be of. Default: any"),
});

export const eventsQuery = z.strictObject({
  after: z.string().max(100).optional().describe("The id of the last event received, as in `Last-Event-ID`"),
});

export const stdinBody = z
  .strictObject({
    text: z.string().nullable().describe("One line without its newline. Null: the end of input"),
    why: z.string().max(1000).optional().describe("With null: why input ends, as the message of the EOFError"),
    call: z.int().min(0).optional().describe("`call` of the `input-start` that this answers. Absent: whichever waits"),
  })
  .meta({ id: "StdinRequest" });
export type StdinBody = Shape<typeof stdinBody>;
