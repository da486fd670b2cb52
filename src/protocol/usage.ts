// Usage of models and tools, and what it cost: one type from the report of a backend to the total of a run.
//
// Sums of money are exact. They are made in whole nano-dollars, so that what was reserved and given back leaves no remainder and a
// limit holds to the last digit. Up to nine million dollars.

import { z } from "zod";
import type { Shape } from "./shape.ts";

/** Of one call. A backend that reports more is wrong; sums stay exact. */
const MAX_TOKENS = 1_000_000_000_000;
const MAX_USD = 1_000_000;

export const modelUsage = z
  .object({
    inputTokens: z.int().describe("Cached tokens included"),
    outputTokens: z.int().describe("Reasoning included"),
    cacheReadTokens: z.int().describe("Input that the provider had in its cache"),
    cacheWriteTokens: z.int().describe("Input that the provider put in its cache"),
    reasoningTokens: z.int().describe("Output that is reasoning"),
    tokens: z.int().describe("Input and output"),
    estimatedTokens: z
      .int()
      .describe("How many of `tokens` are estimated, because the provider did not report them. So is their cost"),
    costUsd: z.number().nullable().describe("Null: the price of something is not known"),
    llmCalls: z.int().describe("Calls of models"),
    toolCalls: z.int().describe("Calls of tools"),
    iterations: z.int().describe("Steps of nodes"),
    cachedCalls: z.int().describe("Calls answered from the cache. They cost nothing"),
  })
  .meta({ id: "ModelUsage", description: "What was used, and what it cost" });

export type ModelUsage = Shape<typeof modelUsage>;

export const finishReason = z
  .enum(["stop", "length", "refusal", "other"])
  .describe(
    "Why an answer ended. `length`: truncated at `maxTokens` or at the end of the window. `refusal`: the model or a filter refused to answer or to go on",
  );
export type FinishReason = Shape<typeof finishReason>;

export const cachedAnswer = z
  .object({ text: z.string(), reasoning: z.string(), finishReason, isCut: z.boolean() })
  .describe("The answer of a model, as the cache keeps it");
export type CachedAnswer = Shape<typeof cachedAnswer>;

/** What a backend reports of one request. `costUsd` is absent unless the provider states it; `estimatedTokens` is 0 by default. */
export type ReportedUsage = Pick<
  ModelUsage,
  "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens" | "reasoningTokens"
> &
  Partial<Pick<ModelUsage, "estimatedTokens" | "costUsd">>;

/** USD for a million tokens. */
export interface TokenPrice {
  /** Input that is not cached. */
  readonly inputUsd: number;
  /** Output, reasoning included. */
  readonly outputUsd: number;
  /** Input that is read from the cache. */
  readonly cacheReadUsd: number;
  /** Input that is written to the cache. */
  readonly cacheWriteUsd: number;
}

export const NO_USAGE: ModelUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  tokens: 0,
  estimatedTokens: 0,
  costUsd: 0,
  llmCalls: 0,
  toolCalls: 0,
  iterations: 0,
  cachedCalls: 0,
};

/** Counts become whole numbers of at least 0, and a cost that is no amount becomes unknown, whatever a backend reports. */
export function toModelUsage(reported: ReportedUsage): ModelUsage {
  const { estimatedTokens = 0, costUsd = null } = reported;
  const inputTokens = toCount(reported.inputTokens);
  const outputTokens = toCount(reported.outputTokens);
  return {
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheReadTokens: toCount(reported.cacheReadTokens),
    cacheWriteTokens: toCount(reported.cacheWriteTokens),
    reasoningTokens: toCount(reported.reasoningTokens),
    tokens: inputTokens + outputTokens,
    estimatedTokens: toCount(estimatedTokens),
    costUsd: costUsd !== null && Number.isFinite(costUsd) && costUsd >= 0 ? Math.min(costUsd, MAX_USD) : null,
  };
}

/** The cost is unknown where either of them is. */
export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return combine(a, b, 1);
}

export function subtractUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return combine(a, b, -1);
}

function combine(a: ModelUsage, b: ModelUsage, sign: 1 | -1): ModelUsage {
  return {
    inputTokens: a.inputTokens + sign * b.inputTokens,
    outputTokens: a.outputTokens + sign * b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + sign * b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + sign * b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + sign * b.reasoningTokens,
    tokens: a.tokens + sign * b.tokens,
    estimatedTokens: a.estimatedTokens + sign * b.estimatedTokens,
    costUsd:
      a.costUsd === null || b.costUsd === null ? null : toUsd(toNanoUsd(a.costUsd) + sign * toNanoUsd(b.costUsd)),
    llmCalls: a.llmCalls + sign * b.llmCalls,
    toolCalls: a.toolCalls + sign * b.toolCalls,
    iterations: a.iterations + sign * b.iterations,
    cachedCalls: a.cachedCalls + sign * b.cachedCalls,
  };
}

const NANOS = 1_000_000_000;

/** The nearest whole number: for what was spent. */
export function toNanoUsd(usd: number): number {
  return Math.round(usd * NANOS);
}

/** Rounded up, but for the noise of binary fractions: for what is reserved. Never less than the same amount spent. */
export function toReservedNanoUsd(usd: number): number {
  return Math.ceil(Math.round(usd * NANOS * 1_000) / 1_000);
}

export function toUsd(nanoUsd: number): number {
  return nanoUsd / NANOS;
}

function toCount(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.min(Math.ceil(value), MAX_TOKENS) : 0;
}
