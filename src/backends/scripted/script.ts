// Scripts: what a scripted backend answers, as types. They are public; the class behind them is not.

import type { BackendFault } from "../../errors.ts";
import type { FinishReason, ReportedUsage } from "../../protocol/usage.ts";
import type { Backend, BackendRequest } from "../backend.ts";
import type { RateLimits } from "../rate-limits.ts";

/** A backend that answers from a script: for tests, demos and work without a network. Deterministic. */
export interface ScriptedBackend extends Backend {
  /** Calls so far. */
  readonly calls: number;
}

/** Everything is optional; `{}` is an answer without text. */
export interface ScriptedAnswer {
  /** The answer. */
  readonly text?: string;
  /** Shown and recorded, never part of the answer. */
  readonly reasoning?: string;
  /** Default: estimated at four bytes to a token. Null: not reported. */
  readonly usage?: Partial<ReportedUsage> | null;
  /** Before the first part. Default: 0. */
  readonly delayMs?: number;
  /** What the provider says about its limits as it accepts the request. Absent: nothing, not even that it does. */
  readonly rateLimits?: RateLimits;
  /** Thrown after the text. */
  readonly error?: ScriptedFault | Error;
  /** Default: `stop`. */
  readonly finishReason?: FinishReason;
}

/** A failure of the provider: it becomes a BackendConnectionError. */
export interface ScriptedFault {
  /** Why the call failed. */
  readonly fault: BackendFault;
  /** The end of the message. */
  readonly why?: string;
  /** The HTTP status. Absent: there was no response. */
  readonly status?: number;
  /** Default: false. */
  readonly retryable?: boolean;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
}

/** `n` counts the calls of this backend from 0. */
export type Script = (request: BackendRequest, n: number) => ScriptedReply | Promise<ScriptedReply>;

/** A string is the text of an answer. */
export type ScriptedReply = string | ScriptedAnswer;
