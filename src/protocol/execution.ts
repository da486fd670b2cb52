// What an execution yields: the same shape at every door.

import type { ExecutionId, SessionId } from "./ids.ts";

/** One value in several representations, keyed by mime type. Binary types are base64; JSON types are JSON text. */
export type MimeBundle = Readonly<Record<string, string>>;

export type ExecutionStatus = "ok" | "error" | "interrupted" | "exit";
export type InterruptReason = "timeout" | "cancelled" | "memory" | "worker-lost";
/** What became of the namespace: untouched, back from a checkpoint, or gone. */
export type StateAfter = "kept" | "restored" | "lost";
export type OutputStream = "stdout" | "stderr";

export interface ExecutionError {
  readonly name: string;
  readonly value: string;
  /** One string, user frames only. */
  readonly traceback: string;
}

/** How much of something was left out, in bytes (in characters for `value`). */
export interface Cut {
  readonly total: number;
  readonly omitted: number;
}

export interface Usage {
  /** Processor time of the execution, children that have ended included. */
  readonly cpuMs: number;
  /** Peak resident memory of the worker since it started. */
  readonly peakMemoryBytes: number;
}

export interface ExecutionResult {
  readonly status: ExecutionStatus;
  readonly stdout: string;
  readonly stderr: string;
  /** The last bare expression; absent when there is none or it is None. */
  readonly value?: MimeBundle;
  readonly displays: readonly MimeBundle[];
  readonly error?: ExecutionError;
  /** True when the code ends in the middle of a statement: nothing was run. */
  readonly incomplete?: true;
  /** Only for `interrupted`. */
  readonly reason?: InterruptReason;
  readonly state: StateAfter;
  /** Only for `exit`. */
  readonly exitCode?: number;
  /** Null when nothing was cut. */
  readonly truncated: Readonly<Partial<Record<OutputStream | "value" | "displays", Cut>>> | null;
  readonly sessionId: SessionId;
  readonly executionId: ExecutionId;
  readonly executionCount: number;
  /** Changes whenever the session's state was lost or restored. */
  readonly epoch: number;
  readonly durationMs: number;
  readonly usage: Usage;
}
