// What calls used, and a guess at it where nobody says.

import type { BackendRequest, TokenUsage } from "./backend.ts";

export const NO_USAGE: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Four bytes of UTF-8 to a token: within a few per cent for English, and near enough for scripts with three bytes a character. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

export function estimateInputTokens(request: BackendRequest): number {
  return Math.ceil(request.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) / 4);
}

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  if (a === NO_USAGE) return b;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...sumOfCosts(a, b),
  };
}

/** Known only where it is known of both: half a cost would pass for the whole. */
function sumOfCosts(a: TokenUsage, b: TokenUsage): { costUsd?: number } {
  const costs = [a, b].filter((usage) => usage.inputTokens + usage.outputTokens > 0 || usage.costUsd !== undefined);
  if (costs.length === 0 || costs.some(({ costUsd }) => costUsd === undefined)) return {};
  return { costUsd: costs.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0) };
}
