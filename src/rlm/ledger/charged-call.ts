// One call of a model in the ledger: every try is reserved before it is made and settled with what it used.
//
// A call that is tried again may have used something already. That is settled at once, and the next try has to fit as the first one
// had, so that tries cannot overshoot a limit together. They are one call on the axis of calls.

import type { ModelPrice, TokenUsage } from "../../backends/backend.ts";
import { costOf } from "../../backends/prices.ts";
import { NO_USAGE } from "../../backends/usage.ts";
import type { Spent } from "../../protocol/runs.ts";
import type { CallAmounts } from "./call-amounts.ts";
import type { Account, Reservation } from "./ledger.ts";

export const UNSPENT: Spent = {
  ...NO_USAGE,
  estimatedTokens: 0,
  tokens: 0,
  costUsd: 0,
  llmCalls: 0,
  toolCalls: 0,
  iterations: 0,
  cachedCalls: 0,
};

export class ChargedCall {
  readonly #account: Account;
  readonly #model: string;
  readonly #price: ModelPrice | undefined;
  readonly #amounts: CallAmounts;
  readonly #options: { readonly finishing: boolean; readonly signal: AbortSignal };
  #reservation: Reservation | undefined;
  #settled: TokenUsage = NO_USAGE;
  #spent = UNSPENT;

  constructor(
    reservation: Reservation,
    call: {
      readonly account: Account;
      readonly model: string;
      readonly price: ModelPrice | undefined;
      readonly amounts: CallAmounts;
      readonly finishing: boolean;
      readonly signal: AbortSignal;
    },
  ) {
    this.#reservation = reservation;
    this.#account = call.account;
    this.#model = call.model;
    this.#price = call.price;
    this.#amounts = call.amounts;
    this.#options = { finishing: call.finishing, signal: call.signal };
  }

  /** Before another try. `usage`: of all tries so far. Throws LimitReached where another one does not fit. */
  async tryAgain(usage: TokenUsage): Promise<undefined> {
    const rest = minus(usage, this.#settled);
    if (isNothing(rest)) return undefined;
    this.#settle(usage, rest);
    this.#reservation = await this.#account.reserveWhenFree({ ...this.#amounts, llmCalls: 0 }, this.#options);
    return undefined;
  }

  /** Of all tries. A call that used nothing, because none of its requests came through, is as if it had not been made. */
  end(usage: TokenUsage): Spent {
    const rest = minus(usage, this.#settled);
    if (isNothing(rest)) this.#reservation?.release();
    else this.#settle(usage, rest);
    return this.#spent;
  }

  /** `rest`: of all, what is not settled yet. */
  #settle(all: TokenUsage, rest: TokenUsage): void {
    this.#settled = all;
    const costUsd = rest.costUsd ?? (this.#price === undefined ? null : costOf(rest, this.#price));
    const reservation = this.#reservation;
    this.#reservation = undefined;
    if (reservation === undefined) return;
    const { costUsd: _, estimatedTokens = 0, ...counts } = rest;
    this.#spent = add(this.#spent, reservation.settle({ model: this.#model, costUsd, estimatedTokens, ...counts }));
  }
}

function isNothing({ inputTokens, outputTokens }: TokenUsage): boolean {
  return inputTokens + outputTokens === 0;
}

/** Whole numbers, whatever a backend of somebody's own counts with: the ledger takes no others. */
function minus(all: TokenUsage, before: TokenUsage): TokenUsage {
  const counts = {
    inputTokens: toCount(all.inputTokens) - toCount(before.inputTokens),
    outputTokens: toCount(all.outputTokens) - toCount(before.outputTokens),
    cacheReadTokens: toCount(all.cacheReadTokens) - toCount(before.cacheReadTokens),
    cacheWriteTokens: toCount(all.cacheWriteTokens) - toCount(before.cacheWriteTokens),
    reasoningTokens: toCount(all.reasoningTokens) - toCount(before.reasoningTokens),
    estimatedTokens: toCount(all.estimatedTokens ?? 0) - toCount(before.estimatedTokens ?? 0),
  };
  const { costUsd } = all;
  if (costUsd === undefined || !Number.isFinite(costUsd)) return counts;
  return { ...counts, costUsd: Math.max(0, costUsd - (before.costUsd ?? 0)) };
}

function toCount(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;
}

function add(a: Spent, b: Spent): Spent {
  if (a === UNSPENT) return b;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    estimatedTokens: a.estimatedTokens + b.estimatedTokens,
    tokens: a.tokens + b.tokens,
    costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
    llmCalls: a.llmCalls + b.llmCalls,
    toolCalls: a.toolCalls + b.toolCalls,
    iterations: a.iterations + b.iterations,
    cachedCalls: a.cachedCalls + b.cachedCalls,
  };
}
