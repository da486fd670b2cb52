// Executions as callers see them: awaitable, iterable, and found again by their ids.

import type { ExecutionEvent } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { ExecutionId } from "../protocol/ids.ts";
import type { Result } from "./result-view.ts";
import type { Signal } from "./web-types.ts";

/**
 * One piece of code run in a session. Await it for its result, or iterate it for its events; both work at any time, and any number of
 * times. It never rejects because of what the code did. It rejects where the session could not run it at all: closed, unknown or busy.
 */
export interface Execution extends Promise<Result>, AsyncIterable<ExecutionEvent> {
  /** For `runtime.executions.get`. */
  readonly id: ExecutionId;
  /** Interrupts it, as Ctrl-C would; while it waits in the queue, it never starts. Does nothing once it has ended. */
  cancel(): Promise<void>;
  /** What it printed, from a byte offset. */
  output(range?: OutputRange): Promise<OutputSlice>;
  /**
   * Answers code that waits for a line, as the event `input-start` says: also code that another client started. A string is one line
   * without its newline; null is the end of input. The first answer counts. False: it does not wait for this.
   */
  answer(line: string | null, options?: AnswerOptions): Promise<boolean>;
}

/** Which request for input is answered. */
export interface AnswerOptions {
  /** `call` of the `input-start` event. Default: whichever waits. */
  readonly call?: number | undefined;
}

/** Options of an execution. */
export interface ExecuteOptions {
  /** The id of the execution; letters, digits, `.`, `_`, `-`, at most 128. The same id is the same work. Default: generated. */
  readonly id?: string | undefined;
  /** Running time, waiting for host calls not counted. Null or Infinity: no limit. Default: the runtime's, 55 s. */
  readonly timeoutMs?: number | null | undefined;
  /** Environment variables for this execution only. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What tracebacks call the code. Default: `<cell N>`. */
  readonly fileName?: string | undefined;
  /** Aborting interrupts the code; while it waits in the queue, it never starts. */
  readonly signal?: Signal | undefined;
  /** Answers `input()` and reads of `sys.stdin`. `ask`: they wait for `execution.answer`. Default: the code sees the end of input. */
  readonly onInput?: InputHandler | "ask" | undefined;
}

/** Code waits for a line: `input()`, `getpass.getpass()` or a read of `sys.stdin`. */
export interface InputRequest {
  /** The prompt of `input()`, which is also printed; that of a password is not. Empty for reads of `sys.stdin`. */
  readonly prompt: string;
  /** The input must not be echoed. */
  readonly password: boolean;
  /** Aborted when the answer is no longer needed. */
  readonly signal: Signal;
}

/**
 * A string is one line without its newline. Null is the end of input. So is what it throws, whose message the code sees as that of its
 * EOFError.
 */
export type InputHandler = (request: InputRequest) => string | null | Promise<string | null>;

/** Which part of the output to read. */
export interface OutputRange {
  /** Absent: both, in print order. */
  readonly stream?: OutputStream | undefined;
  /** In bytes. Default: 0. */
  readonly offset?: number | undefined;
  /** In bytes. Default: 1 MiB; at most 64 MiB at a time. */
  readonly length?: number | undefined;
}

/** A range of printed output. */
export interface OutputSlice {
  /** What was printed there. */
  readonly bytes: Uint8Array;
  /** Where it begins. */
  readonly offset: number;
  /** Where to continue. */
  readonly nextOffset: number;
  /** How much was printed so far. */
  readonly totalBytes: number;
  /** How much of it, from the first byte, can be read. */
  readonly readableBytes: number;
}

/** Executions by id. */
export interface Executions {
  /** Returns at once. Awaiting or iterating it rejects with an ExecutionNotFoundError if there is none, or it is no longer kept. */
  get(id: string): Execution;
}
