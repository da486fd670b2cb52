// The tasks extension: clients that support it poll for the result of a call that became a task.
//
// Its tasks are those of the runtime, so `shell_status` reads them by the same id.

import { ProtocolError, ProtocolErrorCode, type CallToolResult, type McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { TaskNotFoundError } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { Task } from "../../tasks/tasks.ts";
import type { ToolResult } from "./render/result.ts";
import { renderEnded } from "./render/task.ts";
import type { ToolCall } from "./tools/tool-call.ts";
import { formatSeconds } from "../../util/text/format.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** How long an ended task is kept. */
const TTL_MS = 3_600_000;
const POLL_MS = 1_000;
const MAX_STATUS = 200;

interface TaskState {
  readonly taskId: string;
  readonly status: "working" | "completed" | "cancelled";
  readonly statusMessage: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** Instead of a result: the call continues as this task. */
export function toTaskResult(task: Task): TaskState & { readonly resultType: "task" } {
  return { resultType: "task", ...toState(task) };
}

const params = z.looseObject({ taskId: z.string() });

export function serveTasks(
  server: McpServer["server"],
  shared: Pick<ToolCall, "runtime" | "images">,
  toResult: (answer: ToolResult) => CallToolResult,
): void {
  const { runtime } = shared;
  server.registerCapabilities({ extensions: { [TASKS_EXTENSION]: {} } });
  server.setRequestHandler("tasks/get", { params }, async ({ taskId }) => {
    const task = find(runtime, taskId);
    const state = toState(task);
    if (state.status !== "completed") return { ...state };
    return { ...state, result: toResult(await renderEnded(shared, task)) };
  });
  server.setRequestHandler("tasks/update", { params }, async ({ taskId }) => {
    find(runtime, taskId);
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params }, async ({ taskId }) => {
    const task = find(runtime, taskId);
    if (!task.isOver) await task.cancel();
    return {};
  });
}

function find(runtime: Runtime, taskId: string): Task {
  try {
    return runtime.tasks.get(taskId);
  } catch (error) {
    if (!(error instanceof TaskNotFoundError)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No task '${taskId.slice(0, 80)}'`);
  }
}

function toState(task: Task): TaskState {
  const { id, status, startedAt, endedAt, durationMs } = task.info();
  const line = task.lastLine().slice(0, MAX_STATUS);
  return {
    taskId: id,
    status: toStatus(status),
    statusMessage: line === "" ? formatSeconds(durationMs) : `${formatSeconds(durationMs)}: ${line}`,
    createdAt: startedAt,
    lastUpdatedAt: endedAt ?? new Date().toISOString(),
    ttlMs: TTL_MS,
    pollIntervalMs: POLL_MS,
  };
}

/** Failed code or a failed command is a regular result: the extension reserves `failed` for protocol errors. */
function toStatus(status: Task["status"]): TaskState["status"] {
  if (status === "running" || status === "paused") return "working";
  return status === "cancelled" ? "cancelled" : "completed";
}
