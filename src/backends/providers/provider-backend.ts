// OpenAI, Anthropic and servers compatible with OpenAI.
//
// One HTTP request per call, and no retry but one: a setting that a model refuses is left out. Leaving the iteration, or
// aborting, closes the request.

import type { IncomingMessage } from "node:http";
import { BackendConnectionError } from "../../errors.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Backend, BackendRequest, StreamPart } from "../backend.ts";
import { anthropicMessages } from "./protocols/anthropic-messages.ts";
import { readEvents } from "./protocols/event-stream.ts";
import { drain, HTTPClient } from "./http-client.ts";
import { openaiChat } from "./protocols/openai-chat.ts";
import { openaiResponses } from "./protocols/openai-responses.ts";
import { redact } from "./errors/redact.ts";
import { RefusedSettings } from "./refused-settings.ts";
import { ResponseLimits, type TimeLimits } from "./response-limits.ts";
import { toBackendError } from "./errors/to-backend-error.ts";
import type { WireProtocol } from "./protocols/wire-protocol.ts";

export type ProviderName = "openai" | "anthropic" | "openai-compatible";

export interface ProviderSettings {
  readonly apiKey: string | null;
  readonly baseUrl: string;
  readonly limits: TimeLimits;
}

const protocols: Readonly<Record<ProviderName, WireProtocol>> = {
  openai: openaiResponses,
  anthropic: anthropicMessages,
  "openai-compatible": openaiChat,
};

/** How much of an error or of a page in place of an answer is read. */
const MAX_ERROR_BYTES = 64 * 1024;

export class ProviderBackend implements Backend {
  readonly name: ProviderName;
  readonly #protocol: WireProtocol;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #limits: TimeLimits;
  readonly #secrets: readonly string[];
  readonly #refused = new RefusedSettings();
  readonly #client = new HTTPClient();

  constructor(name: ProviderName, { apiKey, baseUrl, limits }: ProviderSettings) {
    this.name = name;
    this.#protocol = protocols[name];
    this.#url = new URL(`${baseUrl}${this.#protocol.path}`);
    this.#headers = { "content-type": "application/json", ...this.#protocol.headers(apiKey) };
    this.#limits = limits;
    this.#secrets = apiKey === null ? [] : [apiKey];
  }

  async *stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    options.signal.throwIfAborted();
    const call = new AbortController();
    const unlisten = onAbort(options.signal, () => call.abort(options.signal.reason));
    const limits = new ResponseLimits(call, this.name, this.#limits);
    try {
      const response = await this.#open(request, limits, call.signal);
      yield* this.#read(response, limits);
    } catch (error) {
      options.signal.throwIfAborted();
      call.signal.throwIfAborted(); // a limit: its fault is the reason
      throw toBackendError(error, this.name, this.#secrets);
    } finally {
      unlisten();
      limits.stop();
    }
  }

  async #open(request: BackendRequest, limits: ResponseLimits, signal: AbortSignal): Promise<IncomingMessage> {
    const sent = this.#refused.adapt(request);
    try {
      return await this.#post(sent, limits, signal);
    } catch (error) {
      signal.throwIfAborted();
      const fault = toBackendError(error, this.name, this.#secrets);
      if (!this.#refused.learn(sent, fault)) throw fault;
      return this.#post(this.#refused.adapt(request), limits, signal);
    }
  }

  /** Resolves with a stream of events. */
  async #post(request: BackendRequest, limits: ResponseLimits, signal: AbortSignal): Promise<IncomingMessage> {
    const body = JSON.stringify(this.#protocol.toBody(request));
    const response = await this.#client.post(this.#url, { headers: this.#headers, body, signal });
    limits.received(0);
    const { statusCode = 0, headers } = response;
    if (statusCode < 200 || statusCode > 299) {
      const responseBody = await readBeginning(response);
      throw Object.assign(new Error("the request failed"), { statusCode, responseHeaders: headers, responseBody });
    }
    const type = headers["content-type"] ?? "";
    if (!/^(application\/json|text\/html)/i.test(type)) return response;
    // Most often the address is wrong.
    const page = redact(await readBeginning(response), this.#secrets);
    const why = `not a stream of events but ${redact(type, [])}: ${page}`;
    throw new BackendConnectionError({ backend: this.name, fault: "malformed", why, retryable: false });
  }

  async *#read(response: IncomingMessage, limits: ResponseLimits): AsyncGenerator<StreamPart> {
    const reader = this.#protocol.createReader();
    let isEnded = false;
    try {
      for await (const event of readEvents(toChunks(response), (bytes) => limits.received(bytes))) {
        for (const part of reader.read(event)) {
          if (part.type.endsWith("-delta")) limits.startAnswer();
          isEnded = part.type === "end";
          yield part;
          if (isEnded) return;
        }
      }
      const rest = reader.finish?.() ?? [];
      isEnded = rest.length > 0;
      yield* rest;
    } finally {
      if (isEnded) drain(response);
      else response.destroy();
    }
    if (isEnded) return;
    const why = "the answer broke off before its end";
    throw new BackendConnectionError({ backend: this.name, fault: "connection", why, retryable: true });
  }
}

/** Leaving the iteration does not destroy the response, whose connection may still be of use. */
function toChunks(response: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => response.iterator({ destroyOnReturn: false }) };
}

async function readBeginning(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString("utf8");
}
