// HTTP client of a running `rlm serve`: sends requests, parses responses, and throws errors that say what to do.
//
// Responses are limited in size and validated before use. Redirects are not followed, so that the token reaches no other
// server, and no message contains the token.

import type { z } from "zod";
import { problemSummary } from "../protocol/api/problem.ts";
import { parseJSON } from "../util/parse-json.ts";
import { readEvents, type StreamedEvent } from "./events.ts";
import { ServerConnectionError, ServerProblem } from "./problem.ts";

const REQUEST_MS = 90_000;
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const EVENTS = "text/event-stream";

export interface ServerAddress {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Where the token came from, for messages. */
  readonly tokenFrom: string;
}

export interface ServerRequest {
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: a timeout of 90 s. */
  readonly signal?: AbortSignal;
}

export class ServerClient {
  /** Reports problems that stop nothing, such as a lost connection. */
  readonly warn: (message: string) => void;
  readonly #address: ServerAddress;

  constructor(address: ServerAddress, warn: (message: string) => void = () => {}) {
    this.#address = address;
    this.warn = warn;
  }

  /** The JSON of the response, validated. Keys that the schema does not know are allowed if it is loose. */
  async request<Schema extends z.ZodType>(
    method: string,
    path: string,
    schema: Schema,
    request: ServerRequest = {},
  ): Promise<z.output<Schema>> {
    const response = await this.#send(method, path, withTimeout(request));
    const parsed = schema.safeParse(toJSON(await this.#read(response)));
    if (!parsed.success) throw this.#notOurs(response);
    return parsed.data;
  }

  /** For a request whose response has no content. */
  async send(method: string, path: string, request: ServerRequest = {}): Promise<void> {
    await this.#read(await this.#send(method, path, withTimeout(request)));
  }

  async bytes(path: string): Promise<{ readonly bytes: Uint8Array; readonly headers: Headers }> {
    const response = await this.#send("GET", path, withTimeout({}));
    return { bytes: await this.#read(response), headers: response.headers };
  }

  /** Resolves with the headers as soon as they arrive. Iterating throws when the connection is lost. */
  async stream(
    method: string,
    path: string,
    { headers = {}, ...request }: ServerRequest = {},
  ): Promise<{ readonly headers: Headers; readonly events: AsyncIterable<StreamedEvent> }> {
    const response = await this.#send(method, path, { ...request, headers: { ...headers, accept: EVENTS } });
    const { body } = response;
    if (response.headers.get("content-type") !== EVENTS || body === null) throw this.#notOurs(response);
    return { headers: response.headers, events: readEvents(body) };
  }

  async #send(method: string, path: string, { json, headers, signal }: ServerRequest): Promise<Response> {
    const { url, token, tokenFrom } = this.#address;
    let response: Response;
    try {
      response = await fetch(url + path, {
        method,
        redirect: "manual",
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(signal && { signal }),
      });
    } catch (error) {
      throw this.#unreachable(error);
    }
    if (response.ok) return response;
    if (response.headers.get("content-type") !== "application/problem+json") throw this.#notOurs(response);
    const parsed = problemSummary.safeParse(toJSON(await this.#read(response)));
    if (!parsed.success) throw this.#notOurs(response);
    if (response.status === 401) {
      throw new ServerConnectionError("configuration", `${url} rejected the token from ${tokenFrom}`);
    }
    throw new ServerProblem(parsed.data);
  }

  async #read(response: Response): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let total = 0;
    try {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        total += chunk.length;
        if (total > MAX_RESPONSE_BYTES) throw this.#notOurs(response);
        chunks.push(chunk);
      }
    } catch (error) {
      throw this.#unreachable(error);
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  }

  /** Errors of the caller's own signal and errors that are already explained pass unchanged. */
  #unreachable(error: unknown): unknown {
    const { name, message, cause } = error as Error;
    if (name === "AbortError" || error instanceof ServerConnectionError) return error;
    const { url } = this.#address;
    const { code, message: why = message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
    const toError = (fault: "configuration" | "connection", text: string): ServerConnectionError =>
      new ServerConnectionError(fault, text, { cause: error });
    if (code === "ECONNREFUSED") {
      const fix = "start a server with 'rlm serve', or name another in RLM_URL";
      return toError("connection", `nothing listens at ${url}: ${fix}`);
    }
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
      return toError("configuration", `there is no such host: ${url}`);
    }
    if (name === "TimeoutError") return toError("connection", `${url} does not answer`);
    return toError("connection", `the connection to ${url} failed: ${why}`);
  }

  #notOurs({ status, headers }: Response): ServerConnectionError {
    const { url } = this.#address;
    const answer = `${status} ${headers.get("content-type") ?? "without content"}`;
    return new ServerConnectionError(
      "configuration",
      `${url} is not a server of this version of rlm: it answered ${answer}. Check RLM_URL`,
    );
  }
}

function withTimeout(request: ServerRequest): ServerRequest {
  return request.signal === undefined ? { ...request, signal: AbortSignal.timeout(REQUEST_MS) } : request;
}

function toJSON(bytes: Uint8Array): unknown {
  return parseJSON(new TextDecoder().decode(bytes));
}
