// Executions: what is asked, and what comes back.

import { z } from "zod";
import { variableList } from "./variables.ts";
import { cut, durationMs, environmentVariables, problem, stream, usage, wholeNumber } from "./common.ts";

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
      .describe("In seconds. Absent, null or 0: what the server has configured, 55 where it has nothing"),
    envs: environmentVariables.nullish().transform((given) => given ?? {}),
  })
  .meta({ id: "InterpreterRequest" });

export const executeBody = z
  .strictObject({
    code: z.string(),
    timeoutMs: durationMs.optional().describe("Running time. Null: no limit. Default: 55,000"),
    env: environmentVariables.optional().describe("Environment variables for this execution only"),
    fileName: z.string().min(1).max(1000).optional().describe("What tracebacks call the code"),
    input: z
      .enum(["none", "ask"])
      .default("none")
      .describe("`ask`: `input()` waits for a client's answer; `none`: it sees the end of input"),
    variables: z.boolean().default(false).describe("Answer with the namespace as it is afterwards, too"),
    onDisconnect: z
      .enum(["continue", "interrupt"])
      .default("continue")
      .describe("What happens when the client goes away before the answer: the code goes on, or is interrupted"),
  })
  .meta({ id: "ExecuteRequest" });

const mimeBundle = z
  .record(z.string(), z.string())
  .meta({ id: "MimeBundle", description: "One value in several representations; binary ones in base64, JSON as text" });

const executionError = z
  .strictObject({ name: z.string(), value: z.string(), traceback: z.string() })
  .meta({ id: "ExecutionError" });

const resultFields = {
  status: z.enum(["ok", "error", "interrupted", "exit"]),
  stdout: z.string(),
  stderr: z.string(),
  value: mimeBundle.optional().describe("The last bare expression"),
  displays: z.array(mimeBundle),
  error: executionError.optional(),
  incomplete: z.literal(true).optional().describe("The code ends in the middle of a statement: nothing was run"),
  reason: z.enum(["timeout", "cancelled", "memory", "worker-lost"]).optional().describe("Only for `interrupted`"),
  state: z.enum(["kept", "restored", "lost"]).describe("What became of the namespace"),
  exitCode: z.int().optional().describe("Only for `exit`"),
  truncated: z
    .strictObject({
      stdout: cut.optional(),
      stderr: cut.optional(),
      value: cut.optional(),
      displays: cut.optional(),
    })
    .nullable()
    .describe("Null: nothing was cut"),
  sessionId: z.string(),
  executionId: z.string(),
  executionCount: z.int(),
  epoch: z.int().describe("Changes whenever the session's state was lost or restored"),
  durationMs: z.number(),
  usage,
};

export const executionResult = z.strictObject(resultFields).meta({ id: "ExecutionResult" });

export const executeAnswer = z
  .strictObject({
    ...resultFields,
    variables: variableList
      .nullish()
      .describe("Where they were asked for. Null: the session has closed meanwhile, or does not answer"),
  })
  .meta({ id: "ExecuteAnswer" });

export const execution = z
  .strictObject({
    id: z.string(),
    sessionId: z.string(),
    state: z.enum(["waiting", "running", "ended"]),
    startedAt: z.iso.datetime().nullable(),
    outputBytes: z.int().describe("Printed so far, on both streams"),
    result: executionResult.nullable().describe("Null: it has not ended, or the session could not run it"),
    problem: problem
      .pick({ status: true, code: true, detail: true })
      .optional()
      .describe("Why the session could not run it: there is no result"),
  })
  .meta({ id: "Execution" });

export const historyList = z
  .strictObject({
    executions: z.array(
      z.strictObject({
        executionId: z.string(),
        executionCount: z.int(),
        code: z.string().describe("Its first characters"),
        startedAt: z.iso.datetime(),
        status: z.enum(["ok", "error", "interrupted", "exit"]).nullable().describe("Null while it runs"),
        durationMs: z.number().nullable(),
      }),
    ),
  })
  .meta({ id: "ExecutionList" });

export const executionQuery = z.strictObject({
  waitMs: wholeNumber.optional().describe("Wait for its end, for so long at most; 60,000 at most"),
});

export const outputQuery = z.strictObject({
  stream: stream.optional().describe("Absent: both, in the order in which they came"),
  offset: wholeNumber.optional().describe("In bytes. Default: 0"),
  length: wholeNumber.optional().describe("In bytes. Default: 1 MiB; 64 MiB at most"),
});

export const eventsQuery = z.strictObject({
  after: z
    .string()
    .max(100)
    .optional()
    .describe("The id of the last event that was seen; `Last-Event-ID` says the same"),
});

export const stdinBody = z
  .strictObject({ text: z.string().nullable().describe("One line, without its end. Null: the end of input") })
  .meta({ id: "StdinRequest" });
