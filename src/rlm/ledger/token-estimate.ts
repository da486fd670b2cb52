// Estimates of tokens before a call is made, and of what it used where the provider does not report it. A reservation must be an upper
// bound, and no tokenizer is at hand.
//
// Estimates are made from bytes, times a factor per model that follows what providers report: up at once and down slowly, since one
// estimate that is too low breaks a limit.

import type { Estimates } from "../../backends/dispatch/call.ts";
import { estimateInputTokens, estimateTokens } from "../../backends/estimate-tokens.ts";
import type { ModelUsage } from "../../protocol/usage.ts";

/** Added to what was reported. */
const MARGIN = 1.1;
const FALL_SHARE = 0.2;
const MIN_FACTOR = 0.25;
const MAX_FACTOR = 10;
/** In smaller requests the provider's own overhead outweighs the text. */
const MIN_TOKENS_TO_LEARN = 100;
const MAX_MODELS = 256;

export class TokenEstimator {
  readonly #factors = new Map<string, number>();
  /** By model, the most hidden reasoning tokens in one answer. */
  readonly #hidden = new Map<string, number>();

  /** Input tokens of a request with these messages. */
  estimate(model: string, messages: readonly string[]): number {
    return Math.ceil(estimateInputTokens(messages) * (this.#factors.get(model) ?? 1));
  }

  /** The factor never lowers the estimate of an answer: answers are mostly code. */
  estimatesOf(model: string, inputTokens: number): Estimates {
    const factor = Math.max(1, this.#factors.get(model) ?? 1);
    const tokensOf = (text: string): number => Math.ceil(estimateTokens(text) * factor);
    return { inputTokens, tokensOf, hiddenTokens: this.#hidden.get(model) ?? 0 };
  }

  /** From what a provider reported of an answer with this visible reasoning. */
  learnHidden(model: string, reasoning: string, { reasoningTokens }: Pick<ModelUsage, "reasoningTokens">): void {
    const hidden = reasoningTokens - estimateTokens(reasoning);
    if (!(hidden > (this.#hidden.get(model) ?? 0))) return;
    if (this.#hidden.has(model) || this.#hidden.size < MAX_MODELS) this.#hidden.set(model, hidden);
  }

  /** From what a provider reported for these messages, cached tokens included. */
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
