// The API of Gemini: `streamGenerateContent` with server-sent events.

import type { FinishReason, ReportedUsage } from "../../../protocol/usage.ts";
import type { BackendRequest, ChatMessage, StreamPart } from "../../backend.ts";
import { toThinkingConfig } from "./gemini-thinking.ts";
import { toToolCall } from "./tool-calls.ts";
import {
  toCount,
  toDelta,
  toFields,
  toSegment,
  toStreamError,
  UnreadableEvent,
  type Fields,
  type EventReader,
  type WireProtocol,
} from "./wire-protocol.ts";

export const gemini: WireProtocol = {
  path: (model) => `/${toPath(model)}:streamGenerateContent?alt=sse`,
  headers: (apiKey) => (apiKey === null ? {} : { "x-goog-api-key": apiKey }),
  toBody,
  createReader: () => new GeminiReader(),
};

/** `models/` is the usual collection; `tunedModels/` is another. */
function toPath(model: string): string {
  const [, collection = "models", name = model] = /^(models|tunedModels)\/(.+)$/s.exec(model) ?? [];
  return `${collection}/${toSegment(name)}`;
}

function toBody(request: BackendRequest): Fields {
  const { model, maxTokens, temperature, seed, reasoningEffort, schema } = request;
  const thinkingConfig = toThinkingConfig(model, reasoningEffort);
  return {
    ...toContents(request),
    generationConfig: {
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(seed !== undefined && { seed }),
      ...(schema !== undefined && { responseMimeType: "application/json", responseJsonSchema: schema }),
      ...(thinkingConfig !== null && { thinkingConfig }),
    },
  };
}

/** The first system messages are a field of their own. Gemma has none. Contents must not be empty. */
function toContents({ model, messages }: BackendRequest): Fields {
  const firstOther = messages.findIndex(({ role }) => role !== "system");
  const systemCount = /(^|\/)gemma/.test(model) || firstOther === -1 ? 0 : firstOther;
  const system = messages.slice(0, systemCount);
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map(toPart) } }),
    contents: toTurns(messages.slice(systemCount)),
  };
}

/** Messages of the same side are one turn: some models want turns to alternate. */
function toTurns(messages: readonly ChatMessage[]): readonly Fields[] {
  const turns: { readonly role: string; readonly parts: Fields[] }[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(toPart(message));
    else turns.push({ role, parts: [toPart(message)] });
  }
  return turns;
}

function toPart({ content }: ChatMessage): Fields {
  return { text: content };
}

class GeminiReader implements EventReader {
  #finishReason: FinishReason | null = null;
  /** Counts grow from event to event: the last ones are those of the answer. */
  #usage: ReportedUsage | null = null;

  read(event: Fields): StreamPart[] {
    if (event["error"] !== undefined) throw toStreamError(event["error"]);
    const parts = this.#countUsage(toUsage(event["usageMetadata"]));
    const { blockReason } = toFields(event["promptFeedback"]);
    if (typeof blockReason === "string") {
      throw toStreamError({ code: "content_filter", message: `the prompt was blocked (${blockReason})` });
    }
    const candidate = toFields(toList(event["candidates"])[0]);
    const reason = candidate["finishReason"];
    if (typeof reason === "string") this.#finishReason = finishReasons.get(reason) ?? "other";
    // What the model wrote is in the message, such as `Malformed function call: print(1)`.
    if (reason === "MALFORMED_FUNCTION_CALL") parts.push(...toToolCall("", candidate["finishMessage"]));
    return [...parts, ...toList(toFields(candidate["content"])["parts"]).map(toFields).flatMap(toPieces)];
  }

  /** An answer has no last event, so the end is known only when the stream is over. */
  finish(): StreamPart[] {
    if (this.#finishReason === null) return [];
    return [{ type: "end", finishReason: this.#finishReason, usage: this.#usage }];
  }

  /** Thoughts are shown as summaries, so their size is known from the counts alone. */
  #countUsage(usage: ReportedUsage | null): StreamPart[] {
    if (usage === null) return [];
    const { inputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
    const thought = reasoningTokens - (this.#usage?.reasoningTokens ?? 0);
    const isFirst = this.#usage === null;
    this.#usage = usage;
    return [
      ...(isFirst ? [{ type: "input-usage" as const, usage: { inputTokens, cacheReadTokens, cacheWriteTokens } }] : []),
      ...(thought > 0 ? [{ type: "hidden-reasoning" as const, maxTokens: thought }] : []),
    ];
  }
}

/** Reasons that are not here, such as a call of a tool that does not exist, leave an answer that was neither refused nor complete. */
const finishReasons = new Map<string, FinishReason>([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "refusal"],
  ["RECITATION", "refusal"],
  ["BLOCKLIST", "refusal"],
  ["PROHIBITED_CONTENT", "refusal"],
  ["SPII", "refusal"],
]);

function toPieces(part: Fields): StreamPart[] {
  const { functionCall } = part;
  if (functionCall !== undefined) return toToolCall(toFields(functionCall)["name"], toFields(functionCall)["args"]);
  return toDelta(part["thought"] === true ? "reasoning-delta" : "text-delta", part["text"]);
}

/** Google counts thoughts apart from the answer; ours includes them. */
function toUsage(value: unknown): ReportedUsage | null {
  const usage = toFields(value);
  if (typeof usage["promptTokenCount"] !== "number") return null;
  const reasoningTokens = toCount(usage["thoughtsTokenCount"]);
  return {
    inputTokens: toCount(usage["promptTokenCount"]) + toCount(usage["toolUsePromptTokenCount"]),
    outputTokens: toCount(usage["candidatesTokenCount"]) + reasoningTokens,
    cacheReadTokens: toCount(usage["cachedContentTokenCount"]),
    cacheWriteTokens: 0,
    reasoningTokens,
  };
}

function toList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UnreadableEvent("candidates or their parts are not lists");
  return value;
}
