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

export const taskKind = z
  .enum(["shell", "execution", "run"])
  .describe("A shell command, or an execution or run that outlived its call");
export type TaskKind = Shape<typeof taskKind>;

export const taskState = z
  .object({
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
  })
  .describe("The state of a task");
export type TaskState = Shape<typeof taskState>;

export const taskInfo = z
  .object({
    ...taskState.shape,
    id: taskId,
    kind: taskKind,
    command: z.string().describe("The first characters of the command, the code or the question"),
    startedAt: z.iso.datetime().describe("When it began"),
    endedAt: z.iso.datetime().nullable().describe("Null: it has not ended"),
    outputBytes: z.int().describe("Printed so far, on both streams"),
  })
  .meta({ id: "TaskInfo", description: "A task: what it is, and its state" });
export type TaskInfo = Shape<typeof taskInfo>;

export const taskResult = z
  .object({
    ...taskState.shape,
    taskId,
    stdout: z.string().describe("What was printed, cut in the middle where `truncated` says so"),
    stderr: z.string().describe("What was printed on standard error, cut in the same way"),
    truncated: z
      .object({
        stdout: cut.exactOptional().describe("Absent: `stdout` is complete"),
        stderr: cut.exactOptional().describe("Absent: `stderr` is complete"),
      })
      .nullable()
      .describe("Null: nothing was truncated"),
  })
  .meta({ id: "TaskResult", description: "What came of a task" });
export type TaskResult = Shape<typeof taskResult>;

const base = {
  taskId,
  seq: z.int().describe("Counts up within the task"),
  time: z.number().describe("Milliseconds since the epoch"),
};

export const taskEvent = z
  .discriminatedUnion("type", [
    z.object({ ...base, type: z.literal("task-start"), command: z.string().describe("The command"), sessionId }),
    z.object({
      ...base,
      type: z.literal("output-delta"),
      stream: outputStream,
      text: z.string().describe("What was printed"),
    }),
    z.object({
      ...base,
      type: z.literal("output-gap"),
      stream: outputStream,
      omittedBytes: z.int().describe("How much was dropped"),
    }),
    z.object({ ...base, type: z.enum(["task-pause", "task-resume"]).describe("Which kind it is") }),
    z.object({
      ...base,
      type: z.literal("task-end"),
      status: taskStatus,
      exitCode: z.int().nullable().describe("128 + n if signal n ended it. Null: it never ran"),
      why: z.string().nullable().describe("What ended it. Null: it ended by itself"),
    }),
  ])
  .describe("What happens in a shell command; `type` says what");
export type TaskEvent = Shape<typeof taskEvent>;
