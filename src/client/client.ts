// A running `rlm serve`, as the commands see it: requests in, parsed answers out, and errors that say what to do.
//
// What a server answers is bounded and parsed before it is used, and a redirection is not followed: the token goes to the
// server that it is for, and is in no message.

import type { z } from "zod";
import { complain } from "../cli/io/print-error.ts";
import { readEvents, type StreamedEvent } from "./events.ts";
import { findServer, type ServerAddress } from "../cli/remote/address.ts";
import { ServerProblem } from "./problem.ts";
import { problemSummary } from "../protocol/api/problem.ts";
import { UsageError } from "../cli/options/usage-error.ts";

const REQUEST_MS = 90_000;
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const EVENTS = "text/event-stream";

export interface ServerRequest {
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the request may take 90 s. */
  readonly signal?: AbortSignal;
}

export function openServerClient(): ServerClient {
  const address = findServer();
  if (address.isExposed) complain(`warning: the token goes to ${address.url} unencrypted: use https`);
  return new ServerClient(address);
}

export class ServerClient {
  readonly #address: ServerAddress;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** The answer, as JSON that has at least what the schema says. */
  async ask<Schema extends z.ZodType>(
    method: string,
    path: string,
    schema: Schema,
    request: ServerRequest = {},
  ): Promise<z.output<Schema>> {
    const { signal = AbortSignal.timeout(REQUEST_MS), ...rest } = request;
    const response = await this.#send(method, path, { ...rest, signal });
    const text = (await this.#read(response)).toString("utf8");
    const parsed = schema.safeParse(toJSON(text));
    if (!parsed.success) throw this.#strange(response);
    return parsed.data;
  }

  /** For a request that is answered with nothing. */
  async tell(method: string, path: string, request: ServerRequest = {}): Promise<void> {
    const { signal = AbortSignal.timeout(REQUEST_MS), ...rest } = request;
    await this.#read(await this.#send(method, path, { ...rest, signal }));
  }

  async bytes(path: string): Promise<{ readonly bytes: Buffer; readonly headers: Headers }> {
    const response = await this.#send("GET", path, { signal: AbortSignal.timeout(REQUEST_MS) });
    return { bytes: await this.#read(response), headers: response.headers };
  }

  /** The events of an answer; `headers` are there at once. Iterating throws where the connection is lost. */
  async stream(
    method: string,
    path: string,
    { headers = {}, ...request }: ServerRequest = {},
  ): Promise<{ readonly headers: Headers; readonly events: AsyncIterable<StreamedEvent> }> {
    const response = await this.#send(method, path, { ...request, headers: { ...headers, accept: EVENTS } });
    const { body } = response;
    if (response.headers.get("content-type") !== EVENTS || body === null) throw this.#strange(response);
    return { headers: response.headers, events: readEvents(body) };
  }

  async #send(method: string, path: string, { json, headers, signal }: ServerRequest): Promise<Response> {
    const { url, token } = this.#address;
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
    if (response.headers.get("content-type") !== "application/problem+json") throw this.#strange(response);
    const parsed = problemSummary.safeParse(toJSON((await this.#read(response)).toString("utf8")));
    if (!parsed.success) throw this.#strange(response);
    if (response.status === 401) throw new UsageError(`${url} does not take the token from ${this.#address.tokenFrom}`);
    throw new ServerProblem(parsed.data);
  }

  async #read(response: Response): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let total = 0;
    try {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        total += chunk.length;
        if (total > MAX_ANSWER_BYTES) throw this.#strange(response);
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw this.#unreachable(error);
    }
    return Buffer.concat(chunks);
  }

  /** Passes on what the caller's own signal did. */
  #unreachable(error: unknown): unknown {
    const { name, message, cause } = error as Error;
    if (name === "AbortError") return error;
    const { url } = this.#address;
    const code = (cause as NodeJS.ErrnoException | undefined)?.code;
    if (code === "ECONNREFUSED") {
      return new Error(`nothing listens at ${url}: start a server with 'rlm serve', or name another in RLM_URL`);
    }
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") return new UsageError(`there is no host of this name: ${url}`);
    if (name === "TimeoutError") return new Error(`${url} does not answer`);
    return new Error(`the connection to ${url} failed: ${(cause as Error | undefined)?.message ?? message}`);
  }

  #strange({ status, headers }: Response): UsageError {
    const { url } = this.#address;
    const what = `${status} ${headers.get("content-type") ?? "without content"}`;
    return new UsageError(`${url} is no server of this version of rlm: it answered ${what}. Look at RLM_URL`);
  }
}

/** Undefined: it is none. */
function toJSON(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
