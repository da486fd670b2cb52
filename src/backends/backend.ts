// A backend answers an LLM request: one request in, one stream of parts out.
//
// It knows a provider's protocol and nothing of runs, budgets or retries. It throws BackendConnectionError for every failure of the
// provider, before the first part or within the stream, and the signal's reason when it is aborted. Leaving the iteration closes the
// request. An answer without text ends like any other; the dispatcher treats it as a fault.

import type { Signal } from "../api/web-types.ts";
import type { FinishReason, ReportedUsage, TokenPrice } from "../protocol/usage.ts";
import type { RateLimits } from "./rate-limits.ts";

/** One message of a conversation with a model. */
export interface ChatMessage {
  /** Who says it. */
  readonly role: "system" | "user" | "assistant";
  /** Its text. */
  readonly content: string;
}

/** One request to a model. */
export interface BackendRequest {
  /** The name of the model, as the provider spells it. */
  readonly model: string;
  /** The first ones stay byte for byte the same from step to step, so that a provider can cache them. */
  readonly messages: readonly ChatMessage[];
  /** How many of the first messages later requests repeat; the prompt cache may end there. Absent: only system messages. */
  readonly stableMessages?: number;
  /** Limit on the answer, reasoning included. Absent: the provider's default. */
  readonly maxTokens?: number;
  /** Absent: the provider's default. */
  readonly temperature?: number;
  /** Makes sampling repeatable where the provider can. Protocols without such a field leave it out. Absent: none. */
  readonly seed?: number;
  /** For reasoning models, as the provider spells it: `low`, `medium`, `high`. Absent: the model's default. */
  readonly reasoningEffort?: string;
  /** JSON Schema for the answer's text, enforced where the provider can. The caller checks the answer again. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /**
   * Merged into the body of the request, last: objects are merged, `null` removes a field, everything else replaces. It may not set
   * the model, the messages or `stream`. A model object of the AI SDK gets it as its provider options.
   */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

/** A part of an answer. */
export type BackendPart =
  | {
      /** Text of the answer. */
      readonly type: "text-delta";
      /** What was added. */
      readonly text: string;
    }
  | {
      /** Shown and recorded, never part of the answer. */
      readonly type: "reasoning-delta";
      /** What was added. */
      readonly text: string;
    }
  | {
      /** The last part of a complete answer. */
      readonly type: "end";
      /** Why it ended. */
      readonly finishReason: FinishReason;
      /** Null: the provider did not report it. */
      readonly usage: ReportedUsage | null;
    };

/** Usage of the request, where a provider reports it before the end: all that is known when the answer is cut off. */
export interface InputUsagePart {
  /** Which part it is. */
  readonly type: "input-usage";
  /** What is known so far. */
  readonly usage: Pick<ReportedUsage, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">;
}

/** The estimated size of reasoning that is not shown. It is billed, and reported only at the end. */
export interface HiddenReasoningPart {
  /** Which part it is. */
  readonly type: "hidden-reasoning";
  /** The most that it can be. */
  readonly maxTokens: number;
}

/**
 * The provider accepted the request. The first part where a backend can tell; otherwise the first part of any kind says so. From here on
 * the request costs something, whatever becomes of it.
 */
export interface ResponseStartPart {
  /** Which part it is. */
  readonly type: "response-start";
  /** What the provider says about its limits. Absent: nothing. */
  readonly rateLimits?: RateLimits;
}

/** The model called a tool, although it was offered none. The reply shows the call, so that it can be followed or answered. */
export interface ToolCallPart {
  /** Which part it is. */
  readonly type: "tool-call";
  /** Of the tool. */
  readonly name: string;
  /** As the model wrote them: JSON, if it is right. */
  readonly arguments: string;
}

/** Everything that a backend may yield. */
export type StreamPart = BackendPart | InputUsagePart | HiddenReasoningPart | ResponseStartPart | ToolCallPart;

/** What is known of a model. An absent fact is not known. */
export interface ModelFacts {
  /** The most tokens of input and output together. */
  readonly contextWindow?: number;
  /** The most tokens of one answer, reasoning included. */
  readonly maxOutputTokens?: number;
  /** Whether it writes reasoning before its answer, which counts as output. */
  readonly reasons?: boolean;
}

/** Something that answers requests to models. */
export interface Backend {
  /** Its name in configuration, errors and recordings. */
  readonly name: string;
  /** True: it leaves no listeners on a signal, so one may serve any number of calls. Absent: each call gets a signal of its own. */
  readonly sharesSignals?: boolean;
  /** What it has found out about a model, such as limits that a provider named when it refused a request. Absent: nothing. */
  factsOf?(model: string): ModelFacts;
  /** Answers one request. Leaving the iteration closes it. */
  stream(request: BackendRequest, options: { readonly signal: Signal }): AsyncIterable<StreamPart>;
}

/** The price of a model, which may rise with the size of the input. */
export interface ModelPrice extends TokenPrice {
  /** For calls with more input than this the whole call has another price. In rising order; absent: one price for all. */
  readonly tiers?: readonly (TokenPrice & {
    /** The price applies to calls with more input than this. */
    readonly aboveInputTokens: number;
  })[];
}
