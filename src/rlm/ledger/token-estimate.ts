// How large a call can get before it is made: what is reserved must be an upper bound, and no tokenizer is at hand. The same for what a
// call has used where nobody tells.
//
// Bytes are counted. Where a provider reports less or more, the factor of that model follows: up at once, down slowly, since a limit is
// broken by one estimate that is too low.

import type { TokenUsage } from "../../backends/backend.ts";
import type { Estimates } from "../../backends/dispatch/call.ts";
import { estimateInputTokens, estimateTokens } from "../../backends/usage.ts";

/** Above what was reported. */
const MARGIN = 1.1;
const FALL_SHARE = 0.2;
const MIN_FACTOR = 0.25;
const MAX_FACTOR = 10;
/** In smaller requests the frame of the provider says more than the text. */
const MIN_TOKENS_TO_LEARN = 100;
const MAX_MODELS = 256;

/** Estimates that learn from what providers report, for each model. */
export class TokenEstimator {
  readonly #factors = new Map<string, number>();
  /** By model, the most that was thought out of sight in one answer. */
  readonly #hidden = new Map<string, number>();

  /** Input tokens of a request with these messages. */
  estimate(model: string, messages: readonly string[]): number {
    return Math.ceil(estimateInputTokens(messages) * (this.#factors.get(model) ?? 1));
  }

  /** For a request whose input was estimated so. An answer is never taken for less than its bytes say: it is mostly code. */
  estimatesOf(model: string, inputTokens: number): Estimates {
    const factor = Math.max(1, this.#factors.get(model) ?? 1);
    const tokensOf = (text: string): number => Math.ceil(estimateTokens(text) * factor);
    return { inputTokens, tokensOf, hiddenTokens: this.#hidden.get(model) ?? 0 };
  }

  /** What a provider reported of an answer with these thoughts in sight. */
  learnHidden(model: string, reasoning: string, { reasoningTokens }: TokenUsage): void {
    const hidden = reasoningTokens - estimateTokens(reasoning);
    if (!(hidden > (this.#hidden.get(model) ?? 0))) return;
    if (this.#hidden.has(model) || this.#hidden.size < MAX_MODELS) this.#hidden.set(model, hidden);
  }

  /** What a provider reported for these messages, cached tokens included. */
  learn(model: string, messages: readonly string[], inputTokens: number): void {
    const plain = estimateInputTokens(messages);
    if (plain < MIN_TOKENS_TO_LEARN || !Number.isFinite(inputTokens) || inputTokens <= 0) return;
    const factor = this.#factors.get(model) ?? 1;
    const seen = (inputTokens / plain) * MARGIN;
    const next = seen > factor ? seen : factor + (seen - factor) * FALL_SHARE;
    if (!this.#factors.has(model) && this.#factors.size >= MAX_MODELS) return;
    this.#factors.set(model, Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, next)));
  }
}

/** USD for a million tokens, as in ModelPrice. */
interface TokenPrice {
  readonly inputUsd: number;
  readonly outputUsd: number;
  readonly cacheReadUsd: number;
  readonly cacheWriteUsd: number;
}

export interface WorstPrice extends TokenPrice {
  /** Other prices for calls with more input. */
  readonly tiers?: readonly (TokenPrice & { readonly aboveInputTokens: number })[];
}

/** The most that a call can cost: nothing is read from a cache, everything may be written to it, in the dearest tier that it can reach. */
export function worstCostUsd(price: WorstPrice, inputTokens: number, outputTokens: number): number {
  const { input, output } = worstOf(price, inputTokens);
  return (inputTokens * input + outputTokens * output) / 1_000_000;
}

/** The most output tokens for which worstCostUsd is at most this; below zero where the input alone costs more. */
export function outputForUsd(price: WorstPrice, inputTokens: number, usd: number): number {
  const { input, output } = worstOf(price, inputTokens);
  const rest = usd * 1_000_000 - inputTokens * input;
  if (rest < 0) return -1;
  return output === 0 ? Infinity : Math.floor(rest / output);
}

function worstOf(price: WorstPrice, inputTokens: number): { readonly input: number; readonly output: number } {
  const reached = [price, ...(price.tiers ?? []).filter(({ aboveInputTokens }) => inputTokens > aboveInputTokens)];
  return {
    input: Math.max(
      ...reached.map(({ inputUsd, cacheReadUsd, cacheWriteUsd }) => Math.max(inputUsd, cacheReadUsd, cacheWriteUsd)),
    ),
    output: Math.max(...reached.map(({ outputUsd }) => outputUsd)),
  };
}
