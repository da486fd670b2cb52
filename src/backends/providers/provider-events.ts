// The events of the three wire protocols in our parts.
//
// Events and fields that are not known are passed over, since providers add some all the time. A text that is no text is not: an
// answer with a hole in it would pass for a whole one. Usage is whatever numbers there are.

import type { FinishReason, InputUsagePart, StreamPart } from "../backend.ts";
import type { ReportedUsage } from "../../protocol/usage.ts";
import { UnreadableEvent } from "./event-stream.ts";
import type { Fields } from "./event-stream.ts";
import type { ProviderName } from "./provider-models.ts";

/** For one answer. Throws what the provider calls an error in the midst of it. */
export interface EventReader {
  read(event: Fields): StreamPart[];
  /** What is left to say when the stream is over; without an `end` in it, or before, the answer broke off. */
  finish(): StreamPart[];
}

export function createEventReader(provider: ProviderName): EventReader {
  switch (provider) {
    case "openai":
      return new ResponsesReader();
    case "anthropic":
      return new MessagesReader();
    case "openai-compatible":
      return new CompletionsReader();
  }
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

class ResponsesReader implements EventReader {
  #isRefused = false;

  read(event: Fields): StreamPart[] {
    const response = toFields(event["response"]);
    switch (event["type"]) {
      case "response.output_text.delta":
        return delta("text-delta", event["delta"]);
      case "response.refusal.delta":
        this.#isRefused = true;
        return delta("text-delta", event["delta"]);
      case "response.refusal.done":
        this.#isRefused = true;
        return [];
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return delta("reasoning-delta", event["delta"]);
      case "response.output_item.done":
        return hiddenReasoning(toFields(event["item"]));
      case "response.completed":
        return [{ type: "end", finishReason: this.#isRefused ? "refusal" : "stop", usage: usageOf(response) }];
      case "response.incomplete":
        return [{ type: "end", finishReason: whyIncomplete(response), usage: usageOf(response) }];
      case "response.failed":
        throw failure(response["error"]);
      case "error":
        throw failure(event["error"] ?? event);
      default:
        return [];
    }
  }

  finish(): StreamPart[] {
    return [];
  }
}

/**
 * Thoughts come sealed, for whoever wants to give them back. Nobody says what is in a seal; that it is base64 of the thoughts, with three
 * bytes to a token, is a guess. Where none was sent, all is possible that the answer may have.
 */
function hiddenReasoning(item: Fields): StreamPart[] {
  if (item["type"] !== "reasoning") return [];
  const sealed = item["encrypted_content"];
  return [
    { type: "hidden-reasoning", maxTokens: typeof sealed === "string" ? Math.ceil(sealed.length / 4) : Infinity },
  ];
}

function whyIncomplete(response: Fields): FinishReason {
  const reason = toFields(response["incomplete_details"])["reason"];
  if (reason === "max_output_tokens") return "length";
  return reason === "content_filter" ? "refusal" : "other";
}

class MessagesReader implements EventReader {
  #usage: Fields = {};
  #finishReason: FinishReason | null = null;

  read(event: Fields): StreamPart[] {
    switch (event["type"]) {
      case "message_start":
        this.#usage = toFields(toFields(event["message"])["usage"]);
        return [{ type: "input-usage", usage: messagesInput(this.#usage) }];
      case "content_block_delta":
        return contentDelta(toFields(event["delta"]));
      case "message_delta": {
        this.#usage = { ...this.#usage, ...present(toFields(event["usage"])) };
        const reason = toFields(event["delta"])["stop_reason"];
        if (typeof reason === "string") this.#finishReason = stopReasons.get(reason) ?? "other";
        return [];
      }
      case "message_stop":
        return this.#finishReason === null ? [] : [this.#end(this.#finishReason)];
      case "error":
        throw failure(event["error"]);
      default:
        return [];
    }
  }

  finish(): StreamPart[] {
    return [];
  }

  #end(finishReason: FinishReason): StreamPart {
    const outputTokens = count(this.#usage["output_tokens"]);
    const reasoningTokens = count(toFields(this.#usage["output_tokens_details"])["thinking_tokens"]);
    const usage = { ...messagesInput(this.#usage), outputTokens, reasoningTokens };
    return { type: "end", finishReason, usage };
  }
}

const stopReasons = new Map<string, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  // The tool that carries an answer by a schema, where the model has no other way; it is the only one that there is.
  ["tool_use", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "refusal"],
]);

function contentDelta(block: Fields): StreamPart[] {
  switch (block["type"]) {
    case "text_delta":
      return delta("text-delta", block["text"]);
    case "input_json_delta":
      return delta("text-delta", block["partial_json"]);
    case "thinking_delta":
      return delta("reasoning-delta", block["thinking"]);
    default:
      return [];
  }
}

/** Their input tokens are without the cached ones. */
function messagesInput(usage: Fields): InputUsagePart["usage"] {
  const cacheReadTokens = count(usage["cache_read_input_tokens"]);
  const cacheWriteTokens = count(usage["cache_creation_input_tokens"]);
  const inputTokens = count(usage["input_tokens"]) + cacheReadTokens + cacheWriteTokens;
  return { inputTokens, cacheReadTokens, cacheWriteTokens };
}

class CompletionsReader implements EventReader {
  #finishReason: FinishReason | null = null;
  #isRefused = false;
  #usage: ReportedUsage | null = null;

  read(event: Fields): StreamPart[] {
    if (event["error"] !== undefined && event["error"] !== null) throw failure(event["error"]);
    this.#usage = usageOf(event) ?? this.#usage;
    const choices = event["choices"];
    if (choices !== undefined && !Array.isArray(choices)) throw new UnreadableEvent("the choices are no list");
    const choice = toFields(choices?.[0]);
    const reason = choice["finish_reason"];
    if (typeof reason === "string") this.#finishReason = finishReasons.get(reason) ?? "other";
    const said = toFields(choice["delta"]);
    const refusal = delta("text-delta", said["refusal"]);
    if (refusal.length > 0) this.#isRefused = true;
    const reasoning = delta("reasoning-delta", said["reasoning_content"] ?? said["reasoning"]);
    return [...reasoning, ...contentOf(said["content"]), ...refusal];
  }

  /** The usage comes after the reason of the end. */
  finish(): StreamPart[] {
    if (this.#finishReason === null) return [];
    const isRefused = this.#isRefused && this.#finishReason === "stop";
    return [{ type: "end", finishReason: isRefused ? "refusal" : this.#finishReason, usage: this.#usage }];
  }
}

const finishReasons = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "refusal"],
]);

/** A text, or, with Mistral's, a list of pieces of which some are thoughts. */
function contentOf(content: unknown): StreamPart[] {
  if (!Array.isArray(content)) return delta("text-delta", content);
  return content.map(toFields).flatMap((piece) => {
    if (piece["type"] !== "thinking" || !Array.isArray(piece["thinking"])) return delta("text-delta", piece["text"]);
    return piece["thinking"].flatMap((thought) => delta("reasoning-delta", toFields(thought)["text"]));
  });
}

/** Of Responses and of Chat Completions, which differ in the names. Null: it is not told. */
function usageOf({ usage }: Fields): ReportedUsage | null {
  const told = toFields(usage);
  const input = told["input_tokens"] ?? told["prompt_tokens"];
  const output = told["output_tokens"] ?? told["completion_tokens"];
  if (typeof input !== "number" || typeof output !== "number") return null;
  const inputDetails = toFields(told["input_tokens_details"] ?? told["prompt_tokens_details"]);
  const outputDetails = toFields(told["output_tokens_details"] ?? told["completion_tokens_details"]);
  const costUsd = told["cost"];
  return {
    inputTokens: count(input),
    outputTokens: count(output),
    cacheReadTokens: count(inputDetails["cached_tokens"]),
    cacheWriteTokens: count(inputDetails["cache_write_tokens"]),
    reasoningTokens: count(outputDetails["reasoning_tokens"]),
    ...(typeof costUsd === "number" && Number.isFinite(costUsd) && costUsd >= 0 ? { costUsd } : {}),
  };
}

function delta(type: "text-delta" | "reasoning-delta", text: unknown): StreamPart[] {
  if (text === undefined || text === null || text === "") return [];
  if (typeof text !== "string") throw new UnreadableEvent(`a piece of text is ${typeof text}`);
  return [{ type, text }];
}

/** A number of tokens that can be added up, whatever was sent. */
function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** In the shape in which the library puts what a provider says in an error status. */
function failure(error: unknown): Error {
  return Object.assign(new Error("the provider failed"), { data: { error: toFields(error) } });
}
