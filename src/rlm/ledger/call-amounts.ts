// What a call may use and what it did use, as amounts of the ledger.

import type { Amounts } from "./limit.ts";
import { type WorstPrice, worstCostUsd } from "./token-estimate.ts";
import { toNanoUsd, toSpentNanoUsd } from "./nano-usd.ts";
import type { Charge } from "./usage-totals.ts";

/** The most that a call can use. */
export interface CallAmounts {
  /** Input and output. */
  readonly tokens: number;
  /** Null: the price is not known, which is an error where the cost is limited. */
  readonly costUsd: number | null;
  /** Default: 1. */
  readonly llmCalls?: number;
  /** For the message of an error. */
  readonly model?: string;
}

export interface CallRequest {
  readonly model: string;
  /** An upper bound. */
  readonly inputTokens: number;
  /** The most that is useful; less is reserved where less is left. */
  readonly maxTokens: number;
  /** With less than this the call is refused. Default: 256, or maxTokens where that is less. */
  readonly leastTokens?: number | undefined;
  /** Undefined: not known. */
  readonly price: WorstPrice | undefined;
}

/** What a call used. `inputTokens` has the cached ones in it, `outputTokens` the reasoning. */
export interface CallUsage {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Of input and output, what is a guess. Absent: none. */
  readonly estimatedTokens?: number;
  /** Null: not known. */
  readonly costUsd: number | null;
  /** It was answered from our own cache: it is counted as that, and nothing else of it is. */
  readonly isCached?: boolean;
}

/** The most that a call with an answer of so many tokens can use. */
export function toCallAmounts({ model, inputTokens, price }: CallRequest, maxTokens: number): CallAmounts {
  const costUsd = price === undefined ? null : worstCostUsd(price, inputTokens, maxTokens);
  return { model, tokens: inputTokens + maxTokens, costUsd };
}

/** The price, where there is none, is nothing: whoever has a limit on costs asked before. */
export function toUnits({ tokens, costUsd, llmCalls = 1 }: CallAmounts): Amounts {
  checkCount("tokens", tokens);
  checkCount("llmCalls", llmCalls);
  checkCost(costUsd);
  return { tokens, costUsd: toNanoUsd(costUsd ?? 0), llmCalls };
}

export function toCharge(usage: CallUsage, llmCalls: number): Charge {
  if (usage.isCached === true) return { cachedCalls: Math.max(1, llmCalls) };
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, costUsd } = usage;
  const { estimatedTokens = 0 } = usage;
  checkCount("inputTokens", inputTokens);
  checkCount("outputTokens", outputTokens);
  checkCount("cacheReadTokens", cacheReadTokens);
  checkCount("cacheWriteTokens", cacheWriteTokens);
  checkCount("reasoningTokens", reasoningTokens);
  checkCount("estimatedTokens", estimatedTokens);
  checkCost(costUsd);
  const costNanoUsd = costUsd === null ? null : toSpentNanoUsd(costUsd);
  const cached = { cacheReadTokens, cacheWriteTokens };
  return { inputTokens, outputTokens, ...cached, reasoningTokens, estimatedTokens, costNanoUsd, llmCalls };
}

export function toAmounts({ inputTokens = 0, outputTokens = 0, costNanoUsd, llmCalls = 0 }: Charge): Amounts {
  return { tokens: inputTokens + outputTokens, costUsd: costNanoUsd ?? 0, llmCalls };
}

function checkCount(name: string, value: number): void {
  if (!(Number.isSafeInteger(value) && value >= 0)) throw wrongAmount(name, value);
}

function checkCost(value: number | null): void {
  if (value !== null && !(Number.isFinite(value) && value >= 0)) throw wrongAmount("costUsd", value);
}

function wrongAmount(name: string, value: number): RangeError {
  return new RangeError(`Cannot use ${value} as ${name}: it must be a number of at least 0`);
}
