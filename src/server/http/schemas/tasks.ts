// Tasks: what is asked, and what comes back.

import { z } from "zod";
import { cut, durationMs, environmentVariables, flag, sessionId, usage, wholeNumber } from "./common.ts";

const MAX_WAIT_MS = 60_000;
const status = z.enum(["running", "paused", "completed", "failed", "cancelled", "timed-out"]);

export const startTaskBody = z
  .strictObject({
    command: z.string().describe("For bash; at most 1 MiB"),
    sessionId: sessionId
      .optional()
      .describe("In whose files and walls it runs. Default: `default`, one for all who name none, opened when needed"),
    cwd: z.string().min(1).max(4000).optional().describe("Relative to the session's working directory"),
    env: environmentVariables.optional().describe("Environment variables for this command only"),
    timeoutMs: durationMs.optional().describe("Running time, pauses not counted. Null: no limit. Default: no limit"),
    stdin: z
      .union([z.enum(["none", "open"]), z.strictObject({ text: z.string() })])
      .optional()
      .describe("`open`: written to with `/stdin`; `{ text }`: this and then the end. Default: `none`"),
    waitMs: z.int().min(0).max(MAX_WAIT_MS).optional().describe("Wait for its end, for so long at most. Default: 0"),
  })
  .meta({ id: "StartTaskRequest" });

const stateFields = {
  sessionId: z.string().nullable().describe("Null: it is a run"),
  status: status.describe("`completed`: it ended by itself, whatever its exit code"),
  exitCode: z.int().nullable().describe("128 + n where signal n ended it"),
  why: z.string().nullable().describe("What ended it. Null: it runs, or ended by itself"),
  durationMs: z.number(),
  usage,
  background: z.boolean().describe("The command has ended, and processes that it started live on"),
};

const infoFields = {
  id: z.string(),
  kind: z.enum(["shell", "execution", "run"]),
  command: z.string().describe("The command, the code or the question: its first characters"),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  outputBytes: z.int().describe("Printed so far, on both streams"),
  ...stateFields,
};

const taskResult = z
  .strictObject({
    taskId: z.string(),
    ...stateFields,
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.strictObject({ stdout: cut.optional(), stderr: cut.optional() }).nullable(),
  })
  .meta({ id: "TaskResult" });

export const task = z
  .strictObject({ ...infoFields, result: taskResult.nullable().describe("Null: it has not ended") })
  .meta({ id: "Task" });

export const taskList = z
  .strictObject({ tasks: z.array(z.strictObject(infoFields).meta({ id: "TaskInfo" })) })
  .meta({ id: "TaskList" });

export const tasksQuery = z.strictObject({
  status: status.optional(),
  sessionId: z.string().max(64).optional(),
});

export const taskQuery = z.strictObject({
  waitMs: wholeNumber.optional().describe("Wait for its end, for so long at most; 60,000 at most"),
});

export const taskInputQuery = z.strictObject({
  close: flag.optional().describe("With raw bytes: they are the last. Default: false"),
});

export const taskInputBody = z
  .strictObject({
    text: z.string().optional().describe("Written as it is: a line needs its end"),
    close: z.boolean().default(false).describe("Nothing comes after it: the command sees the end of its input"),
  })
  .meta({ id: "TaskInputRequest" });
