// A call through the dispatcher: its options and its outcome.

import type { BackendConnectionError } from "../../errors.ts";
import type { FinishReason, ModelUsage } from "../../protocol/usage.ts";
import type { BackendPart } from "../backend.ts";

/** Estimates of what no provider reports. Too high is better than too low, because limits are enforced with them. */
export interface Estimates {
  /** Of the request. */
  readonly inputTokens: number;
  /** Of a piece of the answer. */
  readonly tokensOf: (text: string) => number;
  /** The hidden reasoning seen from this model so far. */
  readonly hiddenTokens: number;
}

export type CallPart =
  | Extract<BackendPart, { type: "text-delta" | "reasoning-delta" }>
  /** All text so far was reasoning, or all reasoning so far was text: the text so far is this. */
  | { readonly type: "reclassify"; readonly text: string }
  /** Discard everything so far: the call starts again from its beginning after the delay. */
  | {
      readonly type: "retry";
      readonly error: BackendConnectionError;
      readonly delayMs: number;
      /** Of all attempts so far. */
      readonly usage: ModelUsage;
      readonly attempts: number;
    };

/** The next attempt of a call waits for a limit of the provider. */
export interface CallPause {
  /** About how long. */
  readonly delayMs: number;
  /** So far. */
  readonly attempts: number;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Calls of one group are made in their order; groups take turns. Default: one group for all that name none. */
  readonly group?: object;
  /** How much longer the caller waits. A Retry-After that is longer fails the call at once. Default: `maxWaitMs` of the dispatcher. */
  readonly timeLeftMs?: () => number;
  /** Default: by the bytes of each text. */
  readonly estimates?: Estimates;
  /** An answer that ignores `maxTokens` is left where it is far beyond it, as if it had been cut off there. Default: false. */
  readonly isLimitFirm?: boolean;
  /** `text`: calls of tools become text of the answer. Absent: they are left out. */
  readonly toolCalls?: "text" | undefined;
  /**
   * Called for one part after the other. `cut`: that is enough, close the request unless the answer ends here anyway. An exception
   * ends the call and is its error.
   */
  readonly onPart?: (part: CallPart) => "cut" | void | Promise<"cut" | void>;
  /** Called when the call begins to wait, and again where it turns out to be much longer. An exception ends the call. */
  readonly onPause?: (pause: CallPause) => void;
}

export interface CallTotals {
  /** Of all attempts. */
  readonly usage: ModelUsage;
  /** Requests made. */
  readonly attempts: number;
}

/** Usage has to be paid for however the call ended, so both outcomes have it. */
export type CallOutcome =
  | (CallTotals & {
      readonly ok: true;
      readonly text: string;
      readonly reasoning: string;
      /** `cut`: by `onPart`. */
      readonly finishReason: FinishReason | "cut";
    })
  /** The error is a BackendConnectionError, the signal's reason, or what `onPart` threw. */
  | (CallTotals & { readonly ok: false; readonly error: unknown });
