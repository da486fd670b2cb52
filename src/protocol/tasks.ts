// Tasks: shell commands, executions that outlived their calls, and runs.

import { z } from "zod";
import { cut, outputStream, usage } from "./execution.ts";
import { sessionId, taskId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";

export const taskStatus = z
  .enum(["running", "paused", "completed", "failed", "cancelled", "timed-out"])
  .describe(
    "`completed`: it ended by itself, whatever its exit code. `failed`: it could not start, or a limit ended it",
  );
export type TaskStatus = Shape<typeof taskStatus>;

export const taskKind = z.enum(["shell", "execution", "run"]);
export type TaskKind = Shape<typeof taskKind>;

export const taskState = z.object({
  sessionId: sessionId.nullable().describe("Null: it is a run, whose nodes have their own sessions"),
  status: taskStatus,
  exitCode: z
    .int()
    .nullable()
    .describe(
      "128 + n if signal n ended it. Null: it runs or never ran, or it is a run or an execution without `exit`",
    ),
  why: z.string().nullable().describe("What ended it. Null: it runs, or ended by itself"),
  durationMs: z.number().describe("So far, or in total; includes time spent paused"),
  usage: usage.describe(
    "Of all processes of a command. Peak memory is sampled: 0 if it ended too soon. A run has none",
  ),
  background: z.boolean().describe("The command has ended, but processes it started are alive. `cancel` ends them"),
});
export type TaskState = Shape<typeof taskState>;

export const taskInfo = z
  .object({
    ...taskState.shape,
    id: taskId,
    kind: taskKind,
    command: z.string().describe("The first characters of the command, the code or the question"),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    outputBytes: z.int().describe("Printed so far, on both streams"),
  })
  .meta({ id: "TaskInfo" });
export type TaskInfo = Shape<typeof taskInfo>;

export const taskResult = z
  .object({
    ...taskState.shape,
    taskId,
    stdout: z.string(),
    stderr: z.string(),
    truncated: z
      .object({ stdout: cut.exactOptional(), stderr: cut.exactOptional() })
      .nullable()
      .describe("Null: nothing was truncated"),
  })
  .meta({ id: "TaskResult" });
export type TaskResult = Shape<typeof taskResult>;

const base = {
  taskId,
  seq: z.int().describe("Counts up within the task"),
  time: z.number().describe("Milliseconds since the epoch"),
};

export const taskEvent = z.discriminatedUnion("type", [
  z.object({ ...base, type: z.literal("task-start"), command: z.string(), sessionId }),
  z.object({ ...base, type: z.literal("output-delta"), stream: outputStream, text: z.string() }),
  z.object({ ...base, type: z.literal("output-gap"), stream: outputStream, omittedBytes: z.int() }),
  z.object({ ...base, type: z.enum(["task-pause", "task-resume"]) }),
  z.object({
    ...base,
    type: z.literal("task-end"),
    status: taskStatus,
    exitCode: z.int().nullable(),
    why: z.string().nullable(),
  }),
]);
export type TaskEvent = Shape<typeof taskEvent>;
