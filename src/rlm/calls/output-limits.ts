// How many output tokens a call may use, and whether the provider is told.
//
// 1. What the caller asks for (`max_tokens`) is sent, as far as the model can write that much.
// 2. Where tokens or costs are limited, a limit is always sent, because nothing else bounds what the call can cost. It is what the
//    strategy allows for such a call, twice as much for a model that reasons, and less where less is left: this much is held
//    while the call is in flight, so that a batch is not held up by reservations that no answer needs.
// 3. Elsewhere a hosted provider is told nothing: its own default is the most that the model can write, or close to it.
// 4. Other servers are told in any case. Some of them write without an end (Ollama, llama.cpp), some stop after 100 tokens.
//
// An answer that is cut off there is asked for once more, with more tokens. What turned out to be needed holds for later calls.

import type { ModelCallStart } from "../../protocol/run-events.ts";
import type { Strategy } from "../../protocol/strategy/strategy.ts";
import type { KnownFacts } from "../../backends/models/model-facts.ts";

type Purpose = ModelCallStart["purpose"];

export interface OutputCall {
  readonly model: string;
  readonly purpose: Purpose;
  /** An estimate. */
  readonly inputTokens: number;
  /** By the caller. Undefined: it sets no limit. */
  readonly maxTokens: number | undefined;
  /** Whether a limit on tokens or costs applies. */
  readonly isLimited: boolean;
  readonly facts: KnownFacts;
  readonly strategy: Strategy;
}

export interface OutputLimit {
  /** What is reserved, and the most that is useful. */
  readonly tokens: number;
  readonly isSent: boolean;
}

/** How an answer ended that was cut off at a limit. */
export interface CutAnswer {
  readonly text: string;
  readonly outputTokens: number;
}

/** In the strategy of the model. */
const USUAL = {
  step: "stepTokens",
  query: "queryTokens",
  extract: "extractTokens",
  direct: "directTokens",
} as const satisfies Readonly<Record<Purpose, string>>;

const REASONING_FACTOR = 2;
const RETRY_FACTOR = 4;
/** The estimate of the input is too high for most texts, so a window that looks full may have room. */
const LEAST_ROOM = 1_024;
const MAX_KNOWN = 1_000;

export class OutputLimits {
  /** By model and purpose, what an answer was seen to need. Null: more did not help. */
  readonly #needs = new Map<string, number | null>();
  readonly #reasoning = new Set<string>();
  /** Models whose answers their provider cuts off early where no limit is sent. */
  readonly #cutsEarly = new Set<string>();

  of(call: OutputCall): OutputLimit {
    const { maxTokens, isLimited, facts, model } = call;
    if (maxTokens !== undefined) return { tokens: atMost(maxTokens, call), isSent: true };
    const isSent = isLimited || !facts.isHosted || this.#cutsEarly.has(model);
    return { tokens: atMost(this.#usual(call), call), isSent };
  }

  /** The limit with which to ask again for an answer that was cut off. Undefined: it is not worth it. */
  more(call: OutputCall, limit: OutputLimit, { text, outputTokens }: CutAnswer): OutputLimit | undefined {
    const { maxTokens, model, purpose } = call;
    if (maxTokens !== undefined || this.#needs.get(keyOf(call)) === null) return undefined;
    const isCutByProvider = !limit.isSent && outputTokens < this.#usual(call);
    if (isCutByProvider) this.#cutsEarly.add(model);
    else if (!limit.isSent || (purpose !== "step" && text.trim() !== "")) return undefined;
    const wanted = isCutByProvider ? this.#usual(call) : limit.tokens * RETRY_FACTOR;
    const tokens = atMost(wanted, call);
    return tokens >= 2 * outputTokens && tokens > (limit.isSent ? limit.tokens : 0)
      ? { tokens, isSent: true }
      : undefined;
  }

  /** Reasoning counts as output, whether or not it is shown. */
  sawReasoning(model: string): void {
    if (this.#reasoning.size < MAX_KNOWN) this.#reasoning.add(model);
  }

  /** After an answer that was asked for once more. */
  learn(call: OutputCall, { tokens }: OutputLimit, isComplete: boolean): void {
    if (this.#needs.size < MAX_KNOWN) this.#needs.set(keyOf(call), isComplete ? tokens : null);
  }

  #usual(call: OutputCall): number {
    const { model, purpose, facts, strategy } = call;
    const isReasoning = facts.reasons ?? this.#reasoning.has(model);
    const usual = strategy.calls[USUAL[purpose]] * (isReasoning ? REASONING_FACTOR : 1);
    return Math.max(usual, this.#needs.get(keyOf(call)) ?? 0);
  }
}

/** Never more than the model can write, or than its window has room for. */
function atMost(tokens: number, { facts, inputTokens }: OutputCall): number {
  const { maxOutputTokens = Infinity, contextWindow = Infinity } = facts;
  return Math.min(tokens, maxOutputTokens, Math.max(LEAST_ROOM, contextWindow - inputTokens));
}

function keyOf({ model, purpose }: OutputCall): string {
  return `${purpose} ${model}`;
}
