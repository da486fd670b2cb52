// Converts the configuration to the options of runs.

import type { Config } from "../../config/config.ts";
import type { RLMOptions } from "../../rlm/rlm.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";

/** The longest timer. */
export const NO_LIMIT_MS = 2_000_000_000;

/** Without the models. */
export function toRLMOptions({ rlm, prices }: Config): Omit<RLMOptions, "model"> {
  const { tokenBudget, costBudgetUsd, callBudget, toolBudget, timeoutMs, maxConcurrency } = rlm;
  const { maxDepth, maxIterations, mode, onLimit, cache, systemPrompt } = rlm;
  const limits = {
    maxDepth,
    maxIterations,
    llmCalls: callBudget,
    wallMs: timeoutMs ?? NO_LIMIT_MS,
    ...omitUndefined({ tokens: tokenBudget, costUsd: costBudgetUsd, toolCalls: toolBudget }),
  };
  return {
    limits,
    mode,
    onLimit,
    prices,
    dispatcher: { maxConcurrency },
    ...omitUndefined({ cache, systemPrompt }),
  };
}
