// Requests and responses about tasks.

import { z } from "zod";
import { newSessionId, newWorkId } from "../id-schemas.ts";
import type { Shape } from "../shape.ts";
import { taskInfo, taskResult, taskStatus } from "../tasks.ts";
import { durationMs, environmentVariables, flag, next, pageQuery, waitMs } from "./parameters.ts";

export const startTaskBody = z
  .strictObject({
    id: newWorkId
      .optional()
      .describe("The id of the task. A repeated request with the same id starts nothing. Default: a random id"),
    command: z.string().describe("A command line for bash; at most 1 MiB"),
    sessionId: newSessionId
      .optional()
      .describe("The session to run in. Default: `default`, a shared session that is opened when it is needed"),
    cwd: z.string().min(1).max(4000).optional().describe("Relative to the session's working directory"),
    env: environmentVariables.optional().describe("Environment variables for this command only"),
    timeoutMs: durationMs.optional().describe("Limit on the running time, without pauses. Null or absent: no limit"),
    stdin: z
      .union([z.enum(["none", "open"]), z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })])
      .optional()
      .describe(
        "`open`: write to it with `/stdin`. `{ text }` or `{ base64 }`: this, then the end of input. Default: `none`",
      ),
    waitMs,
  })
  .meta({ id: "StartTaskRequest" });

export const task = taskInfo
  .extend({ result: taskResult.nullable().describe("Null: it has not ended") })
  .meta({ id: "Task" });
export type TaskView = Shape<typeof task>;

export const taskList = z.object({ tasks: z.array(taskInfo), next }).meta({ id: "TaskList" });

export const tasksQuery = z.strictObject({
  ...pageQuery.shape,
  status: taskStatus.optional(),
  sessionId: z.string().max(64).optional(),
});

export const taskInputQuery = z.strictObject({
  close: flag.optional().describe("For raw bytes: close standard input after them. Default: false"),
});

export const taskInputBody = z
  .strictObject({
    text: z.string().optional().describe("Written unchanged: a line needs its newline"),
    close: z.boolean().default(false).describe("Close standard input afterwards"),
  })
  .meta({ id: "TaskInputRequest" });
