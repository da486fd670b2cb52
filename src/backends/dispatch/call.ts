// What a call through the dispatcher is given, and what comes of it.

import type { BackendConnectionError } from "../../errors.ts";
import type { ModelUsage } from "../../protocol/usage.ts";
import type { BackendPart, FinishReason } from "../backend.ts";

/** Guesses at what nobody tells, rather too high than too low: a limit is held against them. */
export interface Estimates {
  /** Of the request. */
  readonly inputTokens: number;
  /** Of a piece of the answer. */
  readonly tokensOf: (text: string) => number;
  /** How much such a model has been seen to think out of sight. */
  readonly hiddenTokens: number;
}

export type CallPart =
  | Extract<BackendPart, { type: "text-delta" | "reasoning-delta" }>
  /** What came so far is void: the call is tried again, from its beginning, after the delay. */
  | {
      readonly type: "retry";
      readonly error: BackendConnectionError;
      readonly delayMs: number;
      /** Of all tries so far. */
      readonly usage: ModelUsage;
    };

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Default: by the bytes of each text. */
  readonly estimates?: Estimates;
  /** Called one after the other. `cut`: enough, end the request unless the answer is at its end anyway. What it throws ends the call as well, and is its error. */
  readonly onPart?: (part: CallPart) => "cut" | void | Promise<"cut" | void>;
}

export interface CallSpent {
  /** Of all tries. */
  readonly usage: ModelUsage;
  /** Requests that were made. */
  readonly tries: number;
}

/** What was used is to be paid for, however the call ended: hence both in one. */
export type CallOutcome =
  | (CallSpent & {
      readonly ok: true;
      readonly text: string;
      readonly reasoning: string;
      /** `cut`: by `onPart`. */
      readonly finishReason: FinishReason | "cut";
    })
  /** The error is a BackendConnectionError, the signal's reason, or what `onPart` threw. */
  | (CallSpent & { readonly ok: false; readonly error: unknown });
