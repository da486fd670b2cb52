// Ollama's own API, which lets a request choose the window. The one that is compatible with OpenAI does not.
//
// A prompt that does not fit, and an answer that runs into the window, would lose their beginning without a word. Both are turned off,
// which Ollama knows from version 0.12.6 on.

import type { FinishReason } from "../../../protocol/usage.ts";
import type { StreamPart } from "../../backend.ts";
import { toToolCall } from "./tool-calls.ts";
import {
  bearer,
  toCount,
  toDelta,
  toFields,
  toStreamError,
  type Fields,
  type EventReader,
  type WireProtocol,
  type WireRequest,
} from "./wire-protocol.ts";

export const ollamaChat: WireProtocol = {
  path: "/api/chat",
  format: "lines",
  mayCutPrompts: true,
  headers: bearer,
  toBody,
  createReader: () => new OllamaReader(),
};

function toBody({ model, messages, maxTokens, temperature, seed, reasoningEffort, schema }: WireRequest): Fields {
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(schema !== undefined && { format: schema }),
    ...(reasoningEffort !== undefined && { think: toThink(reasoningEffort) }),
    options: {
      ...(maxTokens !== undefined && { num_predict: maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(seed !== undefined && { seed }),
    },
    truncate: false,
    shift: false,
    stream: true,
  };
}

/** `none` turns it off; the ends of OpenAI's scale are Ollama's own ends. */
function toThink(effort: string): boolean | string {
  const known: Readonly<Record<string, boolean | string>> = { none: false, minimal: "low", xhigh: "max" };
  return (Object.hasOwn(known, effort) ? known[effort] : undefined) ?? effort;
}

class OllamaReader implements EventReader {
  read(event: Fields): StreamPart[] {
    if (event["error"] !== undefined) throw toStreamError(event["error"]);
    const message = toFields(event["message"]);
    const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"].map(toFields) : [];
    const parts = [
      ...toDelta("reasoning-delta", message["thinking"]),
      ...toDelta("text-delta", message["content"]),
      ...calls.map((call) => toFields(call["function"])).flatMap(({ name, arguments: args }) => toToolCall(name, args)),
    ];
    return event["done"] === true ? [...parts, toEnd(event)] : parts;
  }
}

function toEnd(event: Fields): StreamPart {
  const { done_reason: reason, prompt_eval_count: input, eval_count: output } = event;
  const isCounted = typeof input === "number" && typeof output === "number";
  const counts = { inputTokens: toCount(input), outputTokens: toCount(output) };
  const usage = isCounted ? { ...counts, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 } : null;
  // Before version 0.1.38 no reason was given.
  return { type: "end", finishReason: finishReasons.get(reason ?? "stop") ?? "other", usage };
}

const finishReasons = new Map<unknown, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
]);
