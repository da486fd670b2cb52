// Cancellation over HTTP for clients of the legacy era, which do not close the stream of a call but send a message in another request. To
// tell clients apart, `initialize` gives each a random name, which it sends along from then on (`Mcp-Session-Id`). Only pending calls are
// stored under that name.

import { randomUUID } from "node:crypto";

type Fetch = (request: Request) => Promise<Response>;

const HEADER = "mcp-session-id";

export class CancellableCalls {
  readonly #calls = new Map<string, AbortController>();

  /** Responds with `fetch`, which gets a request without a body. The signal of that request is aborted on cancellation, too. */
  async answer(request: Request, message: unknown, fetch: Fetch): Promise<Response> {
    const client = request.headers.get(HEADER);
    const { method, id, params } = (message ?? {}) as Readonly<Record<string, unknown>>;
    if (method === "initialize") return named(await fetch(request));
    if (client === null) return fetch(request);
    if (method === "notifications/cancelled")
      this.#cancel(toKey(client, (params as { requestId?: unknown })?.requestId));
    return id === undefined ? fetch(request) : this.#track(toKey(client, id), request, fetch);
  }

  async #track(key: string, request: Request, fetch: Fetch): Promise<Response> {
    const call = new AbortController();
    const forget = (): void => {
      if (this.#calls.get(key) === call) this.#calls.delete(key);
    };
    this.#calls.set(key, call);
    request.signal.addEventListener("abort", forget, { once: true });
    const { url, method, headers } = request;
    const signal = AbortSignal.any([request.signal, call.signal]);
    try {
      const response = await fetch(new Request(url, { method, headers, signal }));
      if (response.body === null) forget();
      return response.body === null ? response : new Response(untilRead(response.body, forget), response);
    } catch (error) {
      forget();
      throw error;
    }
  }

  #cancel(key: string): void {
    this.#calls.get(key)?.abort(new Error("the client has cancelled the call"));
    this.#calls.delete(key);
  }
}

function named(response: Response): Response {
  response.headers.set(HEADER, randomUUID());
  return response;
}

/** The ids 1 and "1" are different. */
function toKey(client: string, id: unknown): string {
  return JSON.stringify([client, id]);
}

/** A reader that stops early aborts the signal of its request instead. */
function untilRead(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  return body.pipeThrough(new TransformStream({ flush: onEnd }));
}
