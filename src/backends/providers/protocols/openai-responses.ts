// The Responses API of OpenAI.

import type { FinishReason } from "../../../protocol/usage.ts";
import type { BackendRequest, StreamPart } from "../../backend.ts";
import { toCacheKey } from "./cache-marks.ts";
import { isStrict } from "./json-schema.ts";
import { toOpenAIUsage } from "./openai-usage.ts";
import { toToolCall } from "./tool-calls.ts";
import {
  bearer,
  toDelta,
  toFields,
  toStreamError,
  type Fields,
  type EventReader,
  type WireProtocol,
} from "./wire-protocol.ts";

/** The smallest `max_output_tokens` that OpenAI accepts. */
const MIN_OUTPUT_TOKENS = 16;

export const openaiResponses: WireProtocol = {
  path: "/responses",
  headers: bearer,
  toBody,
  createReader: () => new ResponsesReader(),
};

function toBody(request: BackendRequest): Fields {
  const { model, messages, maxTokens, temperature, reasoningEffort, schema } = request;
  const reasons = isReasoningModel(model);
  const cacheKey = toCacheKey(request);
  return {
    model,
    input: messages.map(({ role, content }) => ({ role: reasons && role === "system" ? "developer" : role, content })),
    ...(maxTokens !== undefined && { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxTokens) }),
    ...(temperature !== undefined && !reasons && { temperature }),
    ...(reasoningEffort !== undefined && { reasoning: { effort: reasoningEffort } }),
    // Encrypted reasoning is requested only for its size, from which hidden reasoning is estimated.
    ...(reasons && { include: ["reasoning.encrypted_content"] }),
    ...(schema !== undefined && {
      text: { format: { type: "json_schema", name: "response", schema, strict: isStrict(schema) } },
    }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    store: false, // the provider keeps nothing for later calls to refer to
    stream: true,
  };
}

/** The o series, and GPT from 5 on but for its chat variants. */
function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-([5-9]|\d\d))/.test(model) && !/^gpt-\d+-chat/.test(model);
}

class ResponsesReader implements EventReader {
  #isRefused = false;

  read(event: Fields): StreamPart[] {
    const response = toFields(event["response"]);
    switch (event["type"]) {
      case "response.output_text.delta":
        return toDelta("text-delta", event["delta"]);
      case "response.refusal.delta":
        this.#isRefused = true;
        return toDelta("text-delta", event["delta"]);
      case "response.refusal.done":
        this.#isRefused = true;
        return [];
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return toDelta("reasoning-delta", event["delta"]);
      case "response.output_item.done":
        return toItem(toFields(event["item"]));
      case "response.completed":
        return [{ type: "end", finishReason: this.#isRefused ? "refusal" : "stop", usage: toOpenAIUsage(response) }];
      case "response.incomplete":
        return [{ type: "end", finishReason: whyIncomplete(response), usage: toOpenAIUsage(response) }];
      case "response.failed":
        throw toStreamError(response["error"]);
      case "error":
        throw toStreamError(event["error"] ?? event);
      default:
        return [];
    }
  }
}

function toItem(item: Fields): StreamPart[] {
  if (item["type"] === "function_call") return toToolCall(item["name"], item["arguments"]);
  if (item["type"] === "custom_tool_call") return toToolCall(item["name"], item["input"]);
  return toHiddenReasoning(item);
}

/** Encrypted reasoning is taken for base64 with three bytes to a token, which is a guess. Where it is missing, any amount is possible. */
function toHiddenReasoning(item: Fields): StreamPart[] {
  if (item["type"] !== "reasoning") return [];
  const encrypted = item["encrypted_content"];
  const maxTokens = typeof encrypted === "string" ? Math.ceil(encrypted.length / 4) : Infinity;
  return [{ type: "hidden-reasoning", maxTokens }];
}

function whyIncomplete(response: Fields): FinishReason {
  const reason = toFields(response["incomplete_details"])["reason"];
  if (reason === "max_output_tokens") return "length";
  return reason === "content_filter" ? "refusal" : "other";
}
