// What all tasks have in common: an id, a status, output that can be read by offset, an end to wait for.

import type { OutputRange, OutputSlice } from "../output/output-slice.ts";
import type { SessionId, TaskId } from "../protocol/ids.ts";
import type { TaskInfo, TaskKind, TaskResult, TaskState, TaskStatus } from "../protocol/tasks.ts";

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
  /** Both streams in the order in which they came, or one of them, from a byte offset. */
  output(range?: OutputRange): OutputSlice;
  /** The last printed line that is not empty; of a run, what it is doing now. */
  lastLine(): string;
  /** Waits for its end, for so long at most: whether it has ended. An aborted signal ends the waiting, not the task. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Ends everything that belongs to it. Resolves when it is gone. */
  cancel(): Promise<void>;
  /** Holds every process of it. Throws TaskStateError where that cannot be. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** To its standard input. Resolves when it is on its way; the bytes must not change before. Throws TaskStateError where nobody reads it. */
  write(data: string | Uint8Array): Promise<void>;
  /** The end of its standard input. */
  closeInput(): void;
}

export function isOver(status: TaskStatus): boolean {
  return status !== "running" && status !== "paused";
}

/** What `info()` gives. Times are in milliseconds since the epoch. */
export function toInfo(
  {
    id,
    kind,
    command,
    printed,
  }: Pick<TaskBase, "id" | "kind" | "command"> & { readonly printed: { readonly total: number } },
  {
    startedAt,
    endedAt,
    state,
  }: { readonly startedAt: number; readonly endedAt: number | undefined; readonly state: TaskState },
): TaskInfo {
  return {
    id,
    kind,
    command: toExcerpt(command),
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
    outputBytes: printed.total,
    ...state,
  };
}

const MAX_COMMAND = 10_000;

/** A copy where it is long: a slice would keep all of it alive. */
function toExcerpt(command: string): string {
  if (command.length <= MAX_COMMAND) return command;
  return Buffer.from(command.slice(0, MAX_COMMAND), "utf16le").toString("utf16le");
}
