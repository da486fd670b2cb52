// Providers that are spoken to over HTTP, each by its protocol.
//
// One HTTP request per call. Leaving the iteration, or aborting, closes it.

import type { IncomingMessage } from "node:http";
import { BackendConnectionError } from "../../errors.ts";
import { VERSION } from "../../util/version.ts";
import type { ReportedUsage } from "../../protocol/usage.ts";
import type { BackendRequest, StreamPart } from "../backend.ts";
import { toURL } from "../base-url.ts";
import { cutAt, leastTokens, toCutPrompt } from "./cut-prompts.ts";
import { mergeExtraBody } from "./extra-body.ts";
import { readEvents } from "./protocols/event-stream.ts";
import { readLines } from "./protocols/json-lines.ts";
import { drain, HTTPClient } from "./http-client.ts";
import { redact } from "./errors/redact.ts";
import type { TimeLimits } from "./response-limits.ts";
import { StreamingBackend, type Exchange } from "./streaming-backend.ts";
import { toFields, type Fields, type WireProtocol, type WireRequest } from "./protocols/wire-protocol.ts";

export interface ProviderSettings {
  /** What errors and events call it. */
  readonly name: string;
  readonly apiKey: string | null;
  readonly baseUrl: string;
  readonly limits: TimeLimits;
}

/** How much of an error or of a page in place of an answer is read. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_LOOK_UP_BYTES = 4 * 1024 * 1024;

interface FetchOptions {
  /** Absent: GET. */
  readonly body?: Fields;
  readonly signal: AbortSignal;
}

export class ProviderBackend extends StreamingBackend<IncomingMessage> {
  readonly #protocol: WireProtocol;
  readonly #baseUrl: string;
  readonly #hasKey: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #client = new HTTPClient();

  constructor(protocol: WireProtocol, { name, apiKey, baseUrl, limits }: ProviderSettings) {
    const { defaultMaxTokens } = protocol;
    super(name, { limits, secrets: apiKey === null ? [] : [apiKey], defaultMaxTokens });
    this.#protocol = protocol;
    this.#baseUrl = baseUrl;
    this.#hasKey = apiKey !== null;
    // Some hosts turn away requests without a user agent.
    const common = { "content-type": "application/json", "user-agent": `rlm-runtime/${VERSION}` };
    this.#headers = { ...common, ...this.#protocol.headers(apiKey) };
  }

  override async *stream(
    request: BackendRequest,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<StreamPart> {
    for await (const part of super.stream(request, options)) {
      if (part.type === "end" && this.#protocol.mayCutPrompts === true) yield* this.#checkPrompt(request, part.usage);
      yield part;
    }
  }

  /** An answer to a part of the prompt is worth nothing. What it cost is reported all the same. */
  *#checkPrompt({ model, messages }: BackendRequest, usage: ReportedUsage | null): Generator<StreamPart> {
    const read = cutAt(messages, usage);
    if (usage === null || read === null) return;
    this.learnFacts(model, { contextWindow: read });
    yield { type: "input-usage", usage };
    throw toCutPrompt(this.name, read, leastTokens(messages));
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
      const facts = { statusCode, responseHeaders: headers, responseBody, hasKey: this.#hasKey };
      throw Object.assign(new Error("the request failed"), facts);
    }
    const type = headers["content-type"] ?? "";
    if (!/^(application\/json|text\/html)/i.test(type)) return response;
    const page = redact(await readBeginning(response), this.secrets);
    const why = `not a stream of events but ${redact(type, this.secrets)}, so its address is probably wrong: ${page}`;
    throw new BackendConnectionError({ backend: this.name, fault: "malformed", why, retryable: false });
  }

  /** What the server answers to a request beside the calls, parsed. Rejects where that is no object of JSON. */
  protected async fetchJSON(path: string, { body, signal }: FetchOptions): Promise<Fields> {
    const url = toURL(this.#baseUrl, path);
    const options = { headers: this.#headers, signal };
    const sent =
      body === undefined
        ? this.#client.get(url, options)
        : this.#client.post(url, { ...options, body: JSON.stringify(body) });
    const response = await sent;
    const text = await readBeginning(response, MAX_LOOK_UP_BYTES);
    if (response.statusCode !== 200) throw new Error(`the server answered with ${response.statusCode}`);
    return toFields(JSON.parse(text));
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
      const readAll = this.#protocol.format === "lines" ? readLines : readEvents;
      for await (const event of readAll(toChunks(response), (bytes) => limits.received(bytes))) {
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

async function readBeginning(response: IncomingMessage, maxBytes = MAX_ERROR_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
