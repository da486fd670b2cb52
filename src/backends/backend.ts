// A backend answers an LLM request: one request in, one stream of parts out.
//
// It knows a provider's protocol and nothing of runs, budgets or retries. It throws BackendConnectionError for every failure of the
// provider, before the first part or within the stream, and the signal's reason when it is aborted. Leaving the iteration closes the
// request. An answer without text ends like any other; the dispatcher treats it as a fault.

import type { FinishReason, ReportedUsage, TokenPrice } from "../protocol/usage.ts";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface BackendRequest {
  readonly model: string;
  /** The first ones stay byte for byte the same from step to step, so that a provider can cache them. */
  readonly messages: readonly ChatMessage[];
  /** How many of the first messages later requests repeat; the prompt cache may end there. Absent: only system messages. */
  readonly stableMessages?: number;
  /** Limit on the answer, reasoning included. Absent: the provider's default. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** For reasoning models, as the provider spells it: `low`, `medium`, `high`. Absent: the model's default. */
  readonly reasoningEffort?: string;
  /** JSON Schema for the answer's text, enforced where the provider can. The caller checks the answer again. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

export type BackendPart =
  | { readonly type: "text-delta"; readonly text: string }
  /** Shown and recorded, never part of the answer. */
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** The last part of a complete answer. `usage` is null where the provider did not report it. */
  | { readonly type: "end"; readonly finishReason: FinishReason; readonly usage: ReportedUsage | null };

/** Usage of the request, where a provider reports it before the end: all that is known when the answer is cut off. */
export interface InputUsagePart {
  readonly type: "input-usage";
  readonly usage: Pick<ReportedUsage, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">;
}

/** The estimated size of reasoning that is not shown. It is billed, and reported only at the end. */
export interface HiddenReasoningPart {
  readonly type: "hidden-reasoning";
  readonly maxTokens: number;
}

export type StreamPart = BackendPart | InputUsagePart | HiddenReasoningPart;

export interface Backend {
  /** Its name in configuration, errors and recordings. */
  readonly name: string;
  /** True: it uses `onAbort`, so one signal may serve any number of calls. Absent: each call gets a signal of its own. */
  readonly sharesSignals?: boolean;
  stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncIterable<StreamPart>;
}

export interface ModelPrice extends TokenPrice {
  /** For calls with more input than this the whole call has another price. In rising order; absent: one price for all. */
  readonly tiers?: readonly (TokenPrice & { readonly aboveInputTokens: number })[];
}
