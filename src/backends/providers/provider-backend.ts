// Providers that are spoken to over HTTP, each by its protocol.
//
// One HTTP request per call. Leaving the iteration, or aborting, closes it.

import type { IncomingMessage } from "node:http";
import { BackendConnectionError } from "../../errors.ts";
import { VERSION } from "../../util/version.ts";
import type { Backend, StreamPart } from "../backend.ts";
import { toURL } from "../base-url.ts";
import type { ProtocolName } from "../provider-table.ts";
import { mergeExtraBody } from "./extra-body.ts";
import { readEvents } from "./protocols/event-stream.ts";
import { drain, HTTPClient } from "./http-client.ts";
import { redact } from "./errors/redact.ts";
import type { TimeLimits } from "./response-limits.ts";
import { StreamingBackend, type Exchange } from "./streaming-backend.ts";
import type { WireProtocol, WireRequest } from "./protocols/wire-protocol.ts";

export interface ProviderSettings {
  /** What errors and events call it. */
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly apiKey: string | null;
  readonly baseUrl: string;
  readonly limits: TimeLimits;
}

const protocols: Readonly<Record<ProtocolName, () => Promise<WireProtocol>>> = {
  responses: async () => (await import("./protocols/openai-responses.ts")).openaiResponses,
  messages: async () => (await import("./protocols/anthropic-messages.ts")).anthropicMessages,
  gemini: async () => (await import("./protocols/gemini.ts")).gemini,
  chat: async () => (await import("./protocols/openai-chat.ts")).openaiChat,
  azure: async () => (await import("./protocols/chat-dialects.ts")).azureChat,
  mistral: async () => (await import("./protocols/chat-dialects.ts")).mistralChat,
  openrouter: async () => (await import("./protocols/chat-dialects.ts")).openrouterChat,
};

/** Loads the protocol, and nothing else. */
export async function openProvider(settings: ProviderSettings): Promise<Backend> {
  return new ProviderBackend(await protocols[settings.protocol](), settings);
}

/** How much of an error or of a page in place of an answer is read. */
const MAX_ERROR_BYTES = 64 * 1024;

class ProviderBackend extends StreamingBackend<IncomingMessage> {
  readonly #protocol: WireProtocol;
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #client = new HTTPClient();

  constructor(protocol: WireProtocol, { name, apiKey, baseUrl, limits }: ProviderSettings) {
    const { defaultMaxTokens } = protocol;
    super(name, { limits, secrets: apiKey === null ? [] : [apiKey], defaultMaxTokens });
    this.#protocol = protocol;
    this.#baseUrl = baseUrl;
    // Some hosts turn away requests without a user agent.
    const common = { "content-type": "application/json", "user-agent": `rlm-runtime/${VERSION}` };
    this.#headers = { ...common, ...this.#protocol.headers(apiKey) };
  }

  /** Resolves with a stream of events. */
  protected async send(request: WireRequest, { limits, signal }: Exchange): Promise<IncomingMessage> {
    const fields = mergeExtraBody(this.#protocol.toBody(request), request.extraBody, this.name);
    const body = JSON.stringify(fields);
    const response = await this.#client.post(this.#urlFor(request.model), { headers: this.#headers, body, signal });
    limits.received(0);
    const { statusCode = 0, headers } = response;
    if (statusCode < 200 || statusCode > 299) {
      const responseBody = await readBeginning(response);
      throw Object.assign(new Error("the request failed"), { statusCode, responseHeaders: headers, responseBody });
    }
    const type = headers["content-type"] ?? "";
    if (!/^(application\/json|text\/html)/i.test(type)) return response;
    // Most often the address is wrong.
    const page = redact(await readBeginning(response), this.secrets);
    const why = `not a stream of events but ${redact(type, [])}: ${page}`;
    throw new BackendConnectionError({ backend: this.name, fault: "malformed", why, retryable: false });
  }

  protected headersOf({ headers }: IncomingMessage): IncomingMessage["headers"] {
    return headers;
  }

  #urlFor(model: string): URL {
    const { path } = this.#protocol;
    return toURL(this.#baseUrl, typeof path === "string" ? path : path(model, new URL(this.#baseUrl).pathname));
  }

  protected async *read(response: IncomingMessage, { limits }: Exchange): AsyncGenerator<StreamPart, boolean> {
    const reader = this.#protocol.createReader();
    let isEnded = false;
    try {
      for await (const event of readEvents(toChunks(response), (bytes) => limits.received(bytes))) {
        for (const part of reader.read(event)) {
          if (part.type.endsWith("-delta")) limits.startAnswer();
          isEnded = part.type === "end";
          yield part;
          if (isEnded) return true;
        }
      }
      const rest = reader.finish?.() ?? [];
      isEnded = rest.length > 0;
      yield* rest;
      return isEnded;
    } finally {
      if (isEnded) drain(response);
      else response.destroy();
    }
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
