// A model object of the AI SDK as a backend. It answers for its own model only.
//
// The object makes the HTTP requests, so keys, addresses and redirects are its own business. It is not trusted: its parts and errors
// are checked, and the signal holds even where the object ignores it.

import type { FinishReason, ReportedUsage } from "../../protocol/usage.ts";
import { BackendConnectionError } from "../../errors.ts";
import { EventLoopYield } from "../../util/async/event-loop-yield.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { orAborted } from "../../util/async/or-aborted.ts";
import type { BackendRequest, StreamPart } from "../backend.ts";
import type { LanguageModel, LanguageModelCall, LanguageModelMessage, LanguageModelStream } from "./language-model.ts";
import { environmentSecrets } from "../environment-secrets.ts";
import { toHeaders } from "./errors/to-headers.ts";
import { toCallOptions, toMessageOptions, type ObjectName } from "./provider-options.ts";
import { toToolCall } from "./protocols/tool-calls.ts";
import { toCount, toDelta, toFields, UnreadableEvent, type Fields } from "./protocols/wire-protocol.ts";
import type { TimeLimits } from "./response-limits.ts";
import { StreamingBackend, type Exchange } from "./streaming-backend.ts";

/** Longer than for our own providers: keep-alives of a model that reasons are not seen here. */
const LIMITS: TimeLimits = { firstByteMs: 300_000, betweenBytesMs: 300_000, totalMs: 1_800_000 };

/** Counted for each part in addition to its text, so that empty ones reach the limits, too. */
const PART_BYTES = 256;
const OVER = new Error("The call is over");

interface OpenStream {
  readonly stream: LanguageModelStream;
  /** As the object shows them: not trusted. */
  readonly headers: unknown;
  /** Ends the request of an object that does not notice when its stream is cancelled. */
  readonly controller: AbortController;
}

export class LanguageModelBackend extends StreamingBackend<OpenStream> {
  readonly #model: LanguageModel;

  constructor(model: LanguageModel, limits: TimeLimits = LIMITS) {
    super(model.provider, { limits, secrets: environmentSecrets() });
    this.#model = model;
  }

  protected async send(request: BackendRequest, { signal }: Exchange): Promise<OpenStream> {
    const controller = new AbortController();
    onAbort(signal, () => controller.abort(signal.reason));
    const call = { ...toCall(request, this.#model), abortSignal: controller.signal };
    const { stream, response } = await orAborted(this.#model.doStream(call), signal);
    return { stream, headers: toFields(response)["headers"], controller };
  }

  protected headersOf({ headers }: OpenStream): Readonly<Record<string, string>> {
    return toHeaders(headers);
  }

  protected async *read(
    { stream, controller }: OpenStream,
    { limits, signal }: Exchange,
  ): AsyncGenerator<StreamPart, boolean> {
    const reader = stream.getReader();
    const loop = new EventLoopYield();
    let isEnded = false;
    try {
      for (;;) {
        const { done, value } = await orAborted(reader.read(), signal);
        if (done || isCutOff(toFields(value))) return false;
        const parts = this.#toParts(toFields(value));
        const bytes = parts.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), PART_BYTES);
        limits.received(bytes);
        loop.add(bytes);
        await loop.yieldIfDue();
        for (const part of parts) {
          isEnded = part.type === "end";
          if (!isEnded) limits.startAnswer();
          yield part;
          if (isEnded) return true;
        }
      }
    } finally {
      void cancelQuietly(reader);
      if (!isEnded) controller.abort(OVER);
    }
  }

  #toParts(part: Fields): StreamPart[] {
    switch (part["type"]) {
      case "text-delta":
      case "reasoning-delta":
        return toDelta(part["type"], part["delta"]);
      case "tool-call":
        return toToolCall(part["toolName"], part["input"]);
      case "finish":
        return [this.#toEnd(part)];
      case "error":
        throw toStreamError(part["error"]);
      default:
        return [];
    }
  }

  #toEnd(part: Fields): StreamPart {
    const { finishReason, usage } = part;
    const { unified = finishReason } = toFields(finishReason);
    if (unified !== "error") {
      const counted = withCached(toUsage(toFields(usage)), this.#model.provider, part);
      return { type: "end", finishReason: finishReasons.get(unified) ?? "other", usage: counted };
    }
    const why = "the provider failed";
    throw new BackendConnectionError({ backend: this.name, fault: "server", why, retryable: true });
  }
}

async function cancelQuietly(reader: ReturnType<LanguageModelStream["getReader"]>): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // The answer is complete or given up; nobody needs the rest of the stream.
  }
}

/** Packages of the AI SDK finish a stream that was cut off, with neither a reason nor usage. */
function isCutOff({ type, finishReason, usage }: Fields): boolean {
  if (type !== "finish" || toUsage(toFields(usage)) !== null) return false;
  const { unified = finishReason, raw } = toFields(finishReason);
  return unified === "unknown" || (unified === "other" && raw === undefined);
}

const finishReasons = new Map<unknown, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["content-filter", "refusal"],
]);

function toCall(request: BackendRequest, name: ObjectName): LanguageModelCall {
  const { maxTokens, temperature, seed, schema } = request;
  const providerOptions = toCallOptions(name, request);
  return {
    prompt: toPrompt(request, name),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(schema !== undefined && { responseFormat: { type: "json", schema } }),
    ...(seed !== undefined && { seed }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

function toPrompt(request: BackendRequest, name: ObjectName): LanguageModelMessage[] {
  const options = toMessageOptions(name, request);
  return request.messages.map(({ role, content }, index) => {
    const providerOptions = options[index];
    return {
      ...(role === "system" ? { role, content } : { role, content: [{ type: "text", text: content }] }),
      ...(providerOptions !== undefined && { providerOptions }),
    };
  });
}

/** Numbers in version 2, objects since version 3. Null: not reported. */
function toUsage({ inputTokens: input, outputTokens: output, ...flat }: Fields): ReportedUsage | null {
  const { total: inputTotal = input, cacheRead = flat["cachedInputTokens"], cacheWrite } = toFields(input);
  const { total: outputTotal = output, reasoning = flat["reasoningTokens"] } = toFields(output);
  if (typeof inputTotal !== "number" || typeof outputTotal !== "number") return null;
  return {
    inputTokens: toCount(inputTotal),
    outputTokens: toCount(outputTotal),
    cacheReadTokens: toCount(cacheRead),
    cacheWriteTokens: toCount(cacheWrite),
    reasoningTokens: toCount(reasoning),
  };
}

/** In version 2, packages for Claude count input without what was read from the cache or written to it; the latter is metadata. */
function withCached(
  usage: ReportedUsage | null,
  provider: string,
  { usage: sent, providerMetadata }: Fields,
): ReportedUsage | null {
  const isFlat = typeof toFields(sent)["inputTokens"] === "number";
  if (usage === null || !isFlat || !/anthropic|bedrock/.test(provider)) return usage;
  const { anthropic, bedrock } = toFields(providerMetadata);
  const written =
    toFields(anthropic)["cacheCreationInputTokens"] ?? toFields(toFields(bedrock)["usage"])["cacheWriteInputTokens"];
  const cacheWriteTokens = toCount(written);
  return { ...usage, cacheWriteTokens, inputTokens: usage.inputTokens + usage.cacheReadTokens + cacheWriteTokens };
}

/** An event that the package could not validate is unreadable; everything else speaks for itself. */
function toStreamError(error: unknown): unknown {
  const { name, message } = toFields(error);
  if (name === "AI_TypeValidationError" || name === "AI_JSONParseError") return new UnreadableEvent(String(message));
  return error instanceof Error ? error : { data: toFields(error)["error"] === undefined ? { error } : error };
}
