// The provider packages' parts in our words.

import type { BackendPart, FinishReason, InputUsagePart, TokenUsage } from "./backend.ts";
import type { StreamPart } from "./provider-models.ts";

type FinishPart = Extract<StreamPart, { type: "finish" }>;

/** Null: nothing that concerns us. `cut`: the stream ended without the provider's word that this is the end. */
export function toPart(part: StreamPart): BackendPart | InputUsagePart | "cut" | null {
  if (part.type === "finish") return toEnd(part);
  if (part.type === "raw") return toInputUsage(part.rawValue);
  if (part.type !== "text-delta" && part.type !== "reasoning-delta") return null;
  return part.delta === "" ? null : { type: part.type, text: part.delta };
}

function toEnd({ finishReason, usage }: FinishPart): BackendPart | "cut" {
  const { unified, raw } = finishReason;
  if (raw === undefined && (unified === "other" || unified === "error")) return "cut";
  return { type: "end", finishReason: toFinishReason(unified), usage: toUsage(usage) };
}

function toFinishReason(unified: FinishPart["finishReason"]["unified"]): FinishReason {
  switch (unified) {
    case "stop":
    case "length":
      return unified;
    case "content-filter":
      return "refusal";
    case "tool-calls":
    case "error":
    case "other":
      return "other";
  }
}

function toUsage({ inputTokens, outputTokens, raw }: FinishPart["usage"]): TokenUsage | null {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return null;
  const costUsd = raw?.["cost"];
  return {
    inputTokens: count(inputTokens.total),
    outputTokens: count(outputTokens.total),
    cacheReadTokens: count(inputTokens.cacheRead),
    cacheWriteTokens: count(inputTokens.cacheWrite),
    reasoningTokens: count(outputTokens.reasoning),
    ...(typeof costUsd === "number" && Number.isFinite(costUsd) && costUsd >= 0 ? { costUsd } : {}),
  };
}

/** Of Anthropic's `message_start`. */
function toInputUsage(event: unknown): InputUsagePart | null {
  const { message } = (event ?? {}) as { readonly message?: { readonly usage?: Readonly<Record<string, unknown>> } };
  if (typeof message !== "object" || message === null || typeof message.usage !== "object") return null;
  const cacheReadTokens = count(message.usage?.["cache_read_input_tokens"]);
  const cacheWriteTokens = count(message.usage?.["cache_creation_input_tokens"]);
  const inputTokens = count(message.usage?.["input_tokens"]) + cacheReadTokens + cacheWriteTokens;
  return { type: "input-usage", usage: { inputTokens, cacheReadTokens, cacheWriteTokens } };
}

/** A number of tokens that can be added up, whatever was sent. */
function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
