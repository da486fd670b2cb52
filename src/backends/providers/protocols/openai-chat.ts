// Chat Completions, as Ollama, vLLM, llama.cpp, LiteLLM, OpenRouter and many others serve it.

import type { FinishReason, ReportedUsage } from "../../../protocol/usage.ts";
import type { StreamPart } from "../../backend.ts";
import { isStrict } from "./json-schema.ts";
import { toOpenAIUsage } from "./openai-usage.ts";
import { ToolCalls } from "./tool-calls.ts";
import {
  bearer,
  toDelta,
  toFields,
  toStreamError,
  UnreadableEvent,
  type Fields,
  type EventReader,
  type WireProtocol,
  type WireRequest,
} from "./wire-protocol.ts";

export const openaiChat: WireProtocol = {
  path: "/chat/completions",
  mayCutPrompts: true,
  headers: bearer,
  toBody,
  createReader: () => new ChatReader(),
};

function toBody(request: WireRequest): Fields {
  const { model, messages, maxTokens, temperature, seed, reasoningEffort, schema } = request;
  const { tokenField = "max_tokens", reportsUsage = true } = request;
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(maxTokens !== undefined && { [tokenField]: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(seed !== undefined && { seed }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(schema !== undefined && {
      response_format: { type: "json_schema", json_schema: { name: "response", schema, strict: isStrict(schema) } },
    }),
    stream: true,
    ...(reportsUsage && { stream_options: { include_usage: true } }),
  };
}

class ChatReader implements EventReader {
  #finishReason: FinishReason | null = null;
  #isRefused = false;
  #usage: ReportedUsage | null = null;
  readonly #toolCalls = new ToolCalls();

  read(event: Fields): StreamPart[] {
    if (event["error"] !== undefined && event["error"] !== null) throw toStreamError(event["error"]);
    this.#usage = toOpenAIUsage(event) ?? this.#usage;
    const choices = event["choices"];
    if (choices !== undefined && !Array.isArray(choices)) throw new UnreadableEvent("the choices are no list");
    const choice = toFields(choices?.[0]);
    const reason = choice["finish_reason"];
    // OpenRouter, where the provider behind it failed after the answer had begun.
    if (reason === "error") throw toStreamError(choice["error"] ?? { type: "server_error" });
    if (typeof reason === "string") this.#finishReason = finishReasons.get(reason) ?? "other";
    const delta = toFields(choice["delta"]);
    this.#addToolCalls(delta);
    const refusal = toDelta("text-delta", delta["refusal"]);
    if (refusal.length > 0) this.#isRefused = true;
    const reasoning = toDelta("reasoning-delta", delta["reasoning_content"] ?? delta["reasoning"]);
    return [...reasoning, ...toContent(delta["content"]), ...refusal];
  }

  /** The usage comes after the finish reason, so the end is known only when the stream is over. */
  finish(): StreamPart[] {
    if (this.#finishReason === null) return [];
    const isRefused = this.#isRefused && this.#finishReason === "stop";
    const end = { type: "end", finishReason: isRefused ? "refusal" : this.#finishReason, usage: this.#usage } as const;
    return [...this.#toolCalls.take(), end];
  }

  /** In pieces, by their index. One alone is the older form. */
  #addToolCalls({ tool_calls: calls, function_call: only }: Fields): void {
    for (const call of Array.isArray(calls) ? calls.map(toFields) : []) {
      const called = toFields(call["function"]);
      this.#toolCalls.add(call["index"] ?? call["id"], called["name"], called["arguments"]);
    }
    if (only !== undefined && only !== null)
      this.#toolCalls.add("only", toFields(only)["name"], toFields(only)["arguments"]);
  }
}

const finishReasons = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "refusal"],
]);

/** A string, or, from Mistral's models, a list of pieces of which some are reasoning. */
function toContent(content: unknown): StreamPart[] {
  if (!Array.isArray(content)) return toDelta("text-delta", content);
  return content.map(toFields).flatMap((piece) => {
    if (piece["type"] !== "thinking" || !Array.isArray(piece["thinking"])) return toDelta("text-delta", piece["text"]);
    return piece["thinking"].flatMap((thought) => toDelta("reasoning-delta", toFields(thought)["text"]));
  });
}
