// A sum of what was spent.

import type { Spent } from "../../protocol/runs.ts";
import { toUsd } from "./nano-usd.ts";

/** One thing that was spent. Absent: none of it. */
export interface Charge {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  readonly estimatedTokens?: number;
  /** Null: not known. */
  readonly costNanoUsd?: number | null;
  readonly llmCalls?: number;
  readonly toolCalls?: number;
  readonly iterations?: number;
  readonly cachedCalls?: number;
}

export class Tally {
  readonly #sums = {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    estimatedTokens: 0,
    llmCalls: 0,
    toolCalls: 0,
    iterations: 0,
    cachedCalls: 0,
  };
  #costNanoUsd: number | null = 0;

  add(charge: Charge): this {
    const { costNanoUsd = 0 } = charge;
    const sums = this.#sums;
    sums.inputTokens += charge.inputTokens ?? 0;
    sums.outputTokens += charge.outputTokens ?? 0;
    sums.cacheReadTokens += charge.cacheReadTokens ?? 0;
    sums.cacheWriteTokens += charge.cacheWriteTokens ?? 0;
    sums.reasoningTokens += charge.reasoningTokens ?? 0;
    sums.estimatedTokens += charge.estimatedTokens ?? 0;
    sums.llmCalls += charge.llmCalls ?? 0;
    sums.toolCalls += charge.toolCalls ?? 0;
    sums.iterations += charge.iterations ?? 0;
    sums.cachedCalls += charge.cachedCalls ?? 0;
    this.#costNanoUsd = this.#costNanoUsd === null || costNanoUsd === null ? null : this.#costNanoUsd + costNanoUsd;
    return this;
  }

  toSpent(): Spent {
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = this.#sums;
    const { estimatedTokens, llmCalls, toolCalls, iterations, cachedCalls } = this.#sums;
    return {
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      reasoningTokens,
      tokens: inputTokens + outputTokens,
      estimatedTokens,
      costUsd: this.#costNanoUsd === null ? null : toUsd(this.#costNanoUsd),
      llmCalls,
      toolCalls,
      iterations,
      cachedCalls,
    };
  }
}
