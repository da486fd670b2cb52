// Usage as OpenAI and compatible servers report it. Responses and Chat Completions differ in the names of the fields.

import type { ReportedUsage } from "../../../protocol/usage.ts";
import { toCount, toFields, type Fields } from "./wire-protocol.ts";

/** Null: not reported. DeepSeek and Moonshot have names of their own for what came from the cache. */
export function toOpenAIUsage(event: Fields): ReportedUsage | null {
  const usage = toFields(event["usage"]);
  const input = usage["input_tokens"] ?? usage["prompt_tokens"];
  const output = usage["output_tokens"] ?? usage["completion_tokens"];
  if (typeof input !== "number" || typeof output !== "number") return null;
  const inputDetails = toFields(usage["input_tokens_details"] ?? usage["prompt_tokens_details"]);
  const outputDetails = toFields(usage["output_tokens_details"] ?? usage["completion_tokens_details"]);
  const costUsd = usage["cost"];
  return {
    inputTokens: toCount(input),
    outputTokens: toCount(output),
    cacheReadTokens: toCount(
      inputDetails["cached_tokens"] ?? usage["prompt_cache_hit_tokens"] ?? usage["cached_tokens"],
    ),
    cacheWriteTokens: toCount(inputDetails["cache_write_tokens"]),
    reasoningTokens: toCount(outputDetails["reasoning_tokens"]),
    ...(typeof costUsd === "number" && Number.isFinite(costUsd) && costUsd >= 0 ? { costUsd } : {}),
  };
}
