// Tasks: their state, results and events.

import type { TaskView } from "../../protocol/api/tasks.ts";
import type { SessionId, TaskId } from "../../protocol/ids.ts";
import type { TaskEvent, TaskInfo, TaskResult, TaskStatus } from "../../protocol/tasks.ts";
import { boolean, idOf, nullable, number, object, oneOf, optional, string, variants, type Check } from "./check.ts";
import { cut, outputStream, usage } from "./executions.ts";

const taskStatus: Check<TaskStatus> = oneOf("running", "paused", "completed", "failed", "cancelled", "timed-out");
const state = {
  sessionId: nullable(idOf<SessionId>()),
  status: taskStatus,
  exitCode: nullable(number),
  why: nullable(string),
  durationMs: number,
  usage,
  background: boolean,
};
const info = {
  ...state,
  id: idOf<TaskId>(),
  kind: oneOf("shell", "execution", "run"),
  command: string,
  startedAt: string,
  endedAt: nullable(string),
  outputBytes: number,
};
export const taskInfo: Check<TaskInfo> = object<TaskInfo>(info);
export const taskResult: Check<TaskResult> = object<TaskResult>({
  ...state,
  taskId: idOf<TaskId>(),
  stdout: string,
  stderr: string,
  truncated: nullable(object({ stdout: optional(cut), stderr: optional(cut) })),
});
export const task: Check<TaskView> = object<TaskView>({ ...info, result: nullable(taskResult) });

const base = { taskId: string, seq: number, time: number };
const moment = object(base);
export const taskEvent = variants<TaskEvent>("type", {
  "task-start": object({ ...base, command: string, sessionId: string }),
  "output-delta": object({ ...base, stream: outputStream, text: string }),
  "output-gap": object({ ...base, stream: outputStream, omittedBytes: number }),
  "task-pause": moment,
  "task-resume": moment,
  "task-end": object({ ...base, status: taskStatus, exitCode: nullable(number), why: nullable(string) }),
});
