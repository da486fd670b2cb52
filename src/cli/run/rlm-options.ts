// From what is configured to what the runtime is told of runs.

import type { Config } from "../../config/config.ts";
import type { RLMOptions } from "../../rlm/rlm.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";

/** Timers cannot wait longer. */
const NO_LIMIT_MS = 2_000_000_000;

/** All but the backend and the model. */
export function toRLMOptions({ rlm, prices }: Config): Omit<RLMOptions, "model"> {
  const { tokenBudget, costBudgetUsd, callBudget, toolBudget, timeoutMs, subModel } = rlm;
  const { maxDepth, maxIterations, mode, onLimit, cache, reasoningEffort } = rlm;
  const limits = {
    maxDepth,
    maxIterations,
    ...(tokenBudget !== undefined && { tokens: tokenBudget }),
    ...(costBudgetUsd !== undefined && { costUsd: costBudgetUsd }),
    llmCalls: callBudget,
    wallMs: timeoutMs ?? NO_LIMIT_MS,
    ...(toolBudget !== undefined && { toolCalls: toolBudget }),
  };
  return { limits, mode, onLimit, prices, ...omitUndefined({ subModel, reasoningEffort, cache }) };
}
