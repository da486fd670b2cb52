// The common interface of tasks: an id, a status, output that can be read by offset, an end to wait for.

import type { OutputRange, OutputSlice } from "../output/output-slice.ts";
import type { SessionId, TaskId } from "../protocol/ids.ts";
import type { TaskInfo, TaskKind, TaskResult, TaskState, TaskStatus } from "../protocol/tasks.ts";
import { detachedPrefix } from "../util/text/detached-prefix.ts";

const MAX_COMMAND = 10_000;

export interface TaskBase {
  readonly id: TaskId;
  readonly kind: TaskKind;
  readonly sessionId: SessionId | null;
  /** The command, the code or the question. */
  readonly command: string;
  readonly status: TaskStatus;
  /** Settles when it has ended; never rejects because of what it ran. */
  readonly result: Promise<TaskResult>;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  readonly isOver: boolean;
  info(): TaskInfo;
  /** One stream, or both in print order, from a byte offset. */
  output(range?: OutputRange): OutputSlice;
  /** The last printed line that is not empty; for a run, what it does now. */
  lastLine(): string;
  /** Whether it ended within the time. Aborting the signal ends the wait, not the task. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Ends all of its processes. Resolves when they are gone. */
  cancel(): Promise<void>;
  /** Pauses all of its processes. Throws TaskStateError if it cannot be paused. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Writes to its standard input. The bytes must not change until this resolves. Throws TaskStateError if nothing reads it. */
  write(data: string | Uint8Array): Promise<void>;
  /** Ends its standard input. */
  closeInput(): void;
}

export function isOver(status: TaskStatus): boolean {
  return status !== "running" && status !== "paused";
}

/** The result of `info()`. Times are in milliseconds since the epoch. */
export function toInfo(
  task: Pick<TaskBase, "id" | "kind" | "command"> & { readonly printed: { readonly total: number } },
  state: TaskState,
  startedAt: number,
  endedAt: number | undefined,
): TaskInfo {
  const { id, kind, command, printed } = task;
  return {
    id,
    kind,
    command: detachedPrefix(command, MAX_COMMAND),
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
    outputBytes: printed.total,
    ...state,
  };
}
