// Tasks, shell commands, executions that outlived their calls, and runs: what is told of them at every door.

import type { Cut, OutputStream, Usage } from "./execution.ts";
import type { SessionId, TaskId } from "./ids.ts";

/** `failed`: it could not start, or a limit ended it. A command that ends by itself has `completed`, whatever its exit code. */
export type TaskStatus = "running" | "paused" | "completed" | "failed" | "cancelled" | "timed-out";

export type TaskKind = "shell" | "execution" | "run";

export interface TaskState {
  /** Null: it is a run, whose nodes have sessions of their own. */
  readonly sessionId: SessionId | null;
  readonly status: TaskStatus;
  /** 128 + n where signal n ended it. Null: it runs, or never ran; or it is a run, or an execution that did not call `exit`. */
  readonly exitCode: number | null;
  /** What ended it; null where it runs or ended by itself. */
  readonly why: string | null;
  /** So far, or in all, time spent paused included. */
  readonly durationMs: number;
  /** Of a command: all its processes; of a run nothing is known. Peak: their memory together, as it was seen now and then; 0: it ended too soon to be seen. */
  readonly usage: Usage;
  /** The command has ended, and processes that it started live on. `cancel()` ends them. */
  readonly background: boolean;
}

export interface TaskInfo extends TaskState {
  readonly id: TaskId;
  readonly kind: TaskKind;
  /** The command, the code or the question: its first characters. */
  readonly command: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Printed so far, on both streams. */
  readonly outputBytes: number;
}

export interface TaskResult extends TaskState {
  readonly taskId: TaskId;
  readonly stdout: string;
  readonly stderr: string;
  /** Null when nothing was cut. */
  readonly truncated: Readonly<Partial<Record<OutputStream, Cut>>> | null;
}

interface TaskEventBase {
  readonly taskId: TaskId;
  /** Counts up within the task. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export type TaskEvent = TaskEventBase &
  (
    | { readonly type: "task-start"; readonly command: string; readonly sessionId: SessionId }
    | { readonly type: "output-delta"; readonly stream: OutputStream; readonly text: string }
    | { readonly type: "output-gap"; readonly stream: OutputStream; readonly omittedBytes: number }
    | { readonly type: "task-pause" | "task-resume" }
    | {
        readonly type: "task-end";
        readonly status: TaskStatus;
        readonly exitCode: number | null;
        readonly why: string | null;
      }
  );
