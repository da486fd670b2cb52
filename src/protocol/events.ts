// What happens in a session, as plain data: the one union that the terminal, a socket and a recording all read.

import type { ExecutionResult, MimeBundle, OutputStream } from "./execution.ts";
import type { ExecutionId, SessionId } from "./ids.ts";

interface EventBase {
  readonly sessionId: SessionId;
  /** Counts up by one within a session. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

interface ExecutionEventBase extends EventBase {
  readonly executionId: ExecutionId;
}

export interface ExecutionStart extends ExecutionEventBase {
  readonly type: "execution-start";
  readonly code: string;
  readonly executionCount: number;
}

export interface OutputDelta extends ExecutionEventBase {
  readonly type: "output-delta";
  readonly stream: OutputStream;
  readonly text: string;
}

/** Output that was dropped because it passed the bound that stays readable. */
export interface OutputGap extends ExecutionEventBase {
  readonly type: "output-gap";
  readonly stream: OutputStream;
  readonly omittedBytes: number;
}

/** One rich output. */
export interface DisplayPart {
  /** Empty when nothing is shown: a place for later, or only `clear`. */
  readonly data: MimeBundle;
  /** By which a later display may take its place. */
  readonly displayId?: string;
  /** It takes the place of the display with the same id. */
  readonly update?: true;
  /** What was displayed before it goes. */
  readonly clear?: true;
}

export interface Display extends ExecutionEventBase, DisplayPart {
  readonly type: "display";
}

export interface CallStart extends ExecutionEventBase {
  readonly type: "call-start";
  readonly call: number;
  readonly name: string;
}

export interface CallEnd extends ExecutionEventBase {
  readonly type: "call-end";
  readonly call: number;
  readonly ok: boolean;
}

/** Code waits for a line: `input()`, `getpass.getpass()`, or a read of `sys.stdin`. The prompt of `input()` was printed, too. */
export interface InputStart extends ExecutionEventBase {
  readonly type: "input-start";
  readonly call: number;
  readonly prompt: string;
  readonly password: boolean;
}

/** What was answered is the code's alone. `answered` is false at the end of input. */
export interface InputEnd extends ExecutionEventBase {
  readonly type: "input-end";
  readonly call: number;
  readonly answered: boolean;
}

export interface ExecutionEnd extends ExecutionEventBase {
  readonly type: "execution-end";
  readonly result: ExecutionResult;
}

/** Printed by threads or children after the execution that started them had ended. */
export interface BackgroundDelta extends EventBase {
  readonly type: "background-delta";
  readonly stream: OutputStream;
  readonly text: string;
}

export type ResetReason = "reset" | "worker-lost" | "restored" | "rewound";

/** The namespace is another one: empty after a reset or a lost worker, or as it was at a checkpoint. */
export interface SessionReset extends EventBase {
  readonly type: "session-reset";
  readonly epoch: number;
  readonly why: ResetReason;
}

export interface SessionEnd extends EventBase {
  readonly type: "session-end";
  readonly why: string;
}

export type ExecutionEvent =
  | ExecutionStart
  | OutputDelta
  | OutputGap
  | Display
  | CallStart
  | CallEnd
  | InputStart
  | InputEnd
  | ExecutionEnd;
export type SessionEvent = ExecutionEvent | BackgroundDelta | SessionReset | SessionEnd;
