// Something that answers an LLM request: one request in, one stream of parts out.
//
// A backend knows a provider's protocol and nothing of runs, budgets or retries. It throws BackendConnectionError for whatever goes
// wrong with the provider, before the first part or in the midst of a stream, and the signal's reason when it is aborted. Leaving
// the iteration ends the request. An answer without text ends like any other; the dispatcher is who takes it for a fault.

import type { ReportedUsage } from "../protocol/usage.ts";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface BackendRequest {
  readonly model: string;
  /** The first ones stay byte for byte the same from step to step, so that a provider can cache them. */
  readonly messages: readonly ChatMessage[];
  /** How many of the first messages come again unchanged in later requests: there a cache is asked for. Absent: the system's. */
  readonly stableMessages?: number;
  /** The most tokens of the answer, reasoning included. Absent: the provider's default. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** How much a model that reasons should, in the words of its provider: `low`, `medium`, `high`. Absent: its own default. */
  readonly reasoningEffort?: string;
  /** JSON Schema that the answer's text should follow, where the provider can see to it. Whoever asks checks it again. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** `length`: cut at `maxTokens` or at the end of the window. `refusal`: the model or a filter would not answer, or not to the end. */
export type FinishReason = "stop" | "length" | "refusal" | "other";

export type BackendPart =
  | { readonly type: "text-delta"; readonly text: string }
  /** Shown and recorded, never part of the answer. */
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** The last part of an answer that was not broken off. `usage` is null where the provider did not tell. */
  | { readonly type: "end"; readonly finishReason: FinishReason; readonly usage: ReportedUsage | null };

/** What the request was, where a provider tells it before the end: all that is known of an answer that is broken off. */
export interface InputUsagePart {
  readonly type: "input-usage";
  readonly usage: Pick<ReportedUsage, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">;
}

/** The model thought out of sight: about so much of its answer was never shown. It is billed, and told only at the end. */
export interface HiddenReasoningPart {
  readonly type: "hidden-reasoning";
  readonly maxTokens: number;
}

export type StreamPart = BackendPart | InputUsagePart | HiddenReasoningPart;

export interface Backend {
  /** As it is called in configuration, errors and recordings. */
  readonly name: string;
  /** It listens to a signal in such a way that one may serve any number of calls (`onAbort`). Absent: each of them gets its own. */
  readonly sharesSignals?: boolean;
  stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncIterable<StreamPart>;
}

/** USD for a million tokens. */
export interface TokenPrice {
  readonly inputUsd: number;
  readonly outputUsd: number;
  readonly cacheReadUsd: number;
  readonly cacheWriteUsd: number;
}

export interface ModelPrice extends TokenPrice {
  /** For calls with more input than this the whole call has another price. In rising order; absent: one price for all. */
  readonly tiers?: readonly (TokenPrice & { readonly aboveInputTokens: number })[];
}
