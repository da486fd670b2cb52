// The Messages API of Anthropic.

import type { FinishReason } from "../../../protocol/usage.ts";
import type { BackendRequest, InputUsagePart, StreamPart } from "../../backend.ts";
import { countSystem, toCacheEnds } from "./cache-marks.ts";
import { toAnthropicSchema } from "./json-schema.ts";
import { ToolCalls } from "./tool-calls.ts";
import {
  toCount,
  toDelta,
  toFields,
  toStreamError,
  type Fields,
  type EventReader,
  type WireProtocol,
} from "./wire-protocol.ts";

/** Enough for long reasoning with an answer. Older models accept less, which is known or learned. */
const DEFAULT_MAX_TOKENS = 32_000;

export const anthropicMessages: WireProtocol = {
  path: "/messages",
  headers: (apiKey) => ({ "anthropic-version": "2023-06-01", ...(apiKey !== null && { "x-api-key": apiKey }) }),
  defaultMaxTokens: DEFAULT_MAX_TOKENS,
  toBody,
  createReader: () => new MessagesReader(),
};

function toBody(request: BackendRequest): Fields {
  const { model, maxTokens = DEFAULT_MAX_TOKENS, temperature, reasoningEffort, schema } = request;
  const format = schema === undefined ? null : toAnthropicSchema(schema);
  const outputConfig = {
    ...(reasoningEffort !== undefined && { effort: reasoningEffort }),
    ...(format !== null && { format: { type: "json_schema", schema: format } }),
  };
  return {
    model,
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...toMessages(request),
    stream: true,
  };
}

/** System messages are a field of their own. */
function toMessages(request: BackendRequest): Fields {
  const cacheEnds = toCacheEnds(request);
  const blocks = request.messages.map(({ content }, index) => ({
    type: "text",
    text: content,
    ...(cacheEnds.includes(index) && { cache_control: { type: "ephemeral" } }),
  }));
  const systemCount = countSystem(request.messages);
  const messages = request.messages.map(({ role }, index) => ({
    role: role === "assistant" ? role : "user",
    content: [blocks[index]],
  }));
  return {
    ...(systemCount > 0 && { system: blocks.slice(0, systemCount) }),
    messages: messages.slice(systemCount),
  };
}

class MessagesReader implements EventReader {
  #usage: Fields = {};
  #finishReason: FinishReason | null = null;
  readonly #toolCalls = new ToolCalls();

  read(event: Fields): StreamPart[] {
    switch (event["type"]) {
      case "message_start":
        this.#usage = toFields(toFields(event["message"])["usage"]);
        return [{ type: "input-usage", usage: toInputUsage(this.#usage) }];
      case "content_block_start": {
        const { type, name } = toFields(event["content_block"]);
        if (type === "tool_use") this.#toolCalls.add(event["index"], name, "");
        return [];
      }
      case "content_block_delta": {
        const delta = toFields(event["delta"]);
        if (delta["type"] === "input_json_delta") this.#toolCalls.add(event["index"], "", delta["partial_json"]);
        return toContent(delta);
      }
      case "message_delta": {
        this.#usage = { ...this.#usage, ...withoutNulls(toFields(event["usage"])) };
        const reason = toFields(event["delta"])["stop_reason"];
        if (typeof reason === "string") this.#finishReason = stopReasons.get(reason) ?? "other";
        return [];
      }
      case "message_stop":
        return this.#finishReason === null ? [] : [...this.#toolCalls.take(), this.#toEnd(this.#finishReason)];
      case "error":
        throw toStreamError(event["error"]);
      default:
        return [];
    }
  }

  #toEnd(finishReason: FinishReason): StreamPart {
    const outputTokens = toCount(this.#usage["output_tokens"]);
    const reasoningTokens = toCount(toFields(this.#usage["output_tokens_details"])["thinking_tokens"]);
    return { type: "end", finishReason, usage: { ...toInputUsage(this.#usage), outputTokens, reasoningTokens } };
  }
}

const stopReasons = new Map<string, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "refusal"],
]);

function toContent(delta: Fields): StreamPart[] {
  switch (delta["type"]) {
    case "text_delta":
      return toDelta("text-delta", delta["text"]);
    case "thinking_delta":
      return toDelta("reasoning-delta", delta["thinking"]);
    default:
      return [];
  }
}

/** Anthropic's `input_tokens` exclude the cached ones; ours include them. */
function toInputUsage(usage: Fields): InputUsagePart["usage"] {
  const cacheReadTokens = toCount(usage["cache_read_input_tokens"]);
  const cacheWriteTokens = toCount(usage["cache_creation_input_tokens"]);
  const inputTokens = toCount(usage["input_tokens"]) + cacheReadTokens + cacheWriteTokens;
  return { inputTokens, cacheReadTokens, cacheWriteTokens };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
