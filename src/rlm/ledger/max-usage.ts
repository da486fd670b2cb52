// The most that a model call can use, which is reserved before it is made.

import type { ModelPrice } from "../../backends/backend.ts";
import { worstCostUsd } from "../../backends/prices.ts";
import type { ModelUsage } from "../../protocol/usage.ts";

/** The most that a call can use. `llmCalls` is 1 by default; an unknown cost is an error where the cost is limited. */
export type MaxUsage = Pick<ModelUsage, "tokens" | "costUsd"> & Partial<Pick<ModelUsage, "llmCalls">>;

export interface CallRequest {
  readonly model: string;
  /** An upper bound. */
  readonly inputTokens: number;
  /** The most output tokens that are useful; fewer are reserved where less is left. */
  readonly maxTokens: number;
  /** With fewer output tokens than this the call is refused. Default: 256, or `maxTokens` where that is less. */
  readonly leastTokens?: number | undefined;
  /** Undefined: not known. */
  readonly price: ModelPrice | undefined;
  /** 0 where it is a further attempt of a call that was counted. Default: 1. */
  readonly llmCalls?: number;
}

/** The most that a call with this many output tokens can use. */
export function maxUsageOf({ inputTokens, price, llmCalls = 1 }: CallRequest, outputTokens: number): MaxUsage {
  const costUsd = price === undefined ? null : worstCostUsd(price, inputTokens, outputTokens);
  return { tokens: inputTokens + outputTokens, costUsd, llmCalls };
}
