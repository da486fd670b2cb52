// What calls used, and a guess at it where nobody says.

import type { TokenUsage } from "./backend.ts";

export const NO_USAGE: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

const BYTES_PER_TOKEN = 3;
/** Around each message: its role and its separators. */
const TOKENS_PER_MESSAGE = 8;

/**
 * Three bytes of UTF-8 to a token: too much for prose, which has four to five, and about right for code and numbers. Bytes tell more than
 * characters: a token is rarely more than one character of a script with three bytes for each.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

export function estimateInputTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokens(text) + TOKENS_PER_MESSAGE, 0);
}

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  if (a === NO_USAGE) return b;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    estimatedTokens: (a.estimatedTokens ?? 0) + (b.estimatedTokens ?? 0),
    ...sumOfCosts(a, b),
  };
}

/** Known only where it is known of both: half a cost would pass for the whole. */
function sumOfCosts(a: TokenUsage, b: TokenUsage): { costUsd?: number } {
  const costs = [a, b].filter((usage) => usage.inputTokens + usage.outputTokens > 0 || usage.costUsd !== undefined);
  if (costs.length === 0 || costs.some(({ costUsd }) => costUsd === undefined)) return {};
  return { costUsd: costs.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0) };
}
