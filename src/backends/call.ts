// What a call through the dispatcher is given, and what comes of it.

import type { BackendConnectionError } from "../errors.ts";
import type { BackendPart, FinishReason, TokenUsage } from "./backend.ts";

export type CallPart =
  | Extract<BackendPart, { type: "text-delta" | "reasoning-delta" }>
  /** What came so far is void: the call is tried again, from its beginning, after the delay. */
  | {
      readonly type: "retry";
      readonly error: BackendConnectionError;
      readonly delayMs: number;
      /** Of all tries so far. */
      readonly usage: TokenUsage;
    };

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Called one after the other. `cut`: enough, end the request. What it throws ends the call as well, and is its error. */
  readonly onPart?: (part: CallPart) => "cut" | void | Promise<"cut" | void>;
}

export interface CallSpent {
  /** Of all tries. */
  readonly usage: TokenUsage;
  /** A part of the usage is a guess, because nobody told. */
  readonly isEstimate: boolean;
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
