// As much of `fetch` as the provider packages need, straight on Node's HTTP.
//
// Node's own `fetch` takes several times as long for one request as Node's HTTP does, which is more than all else of a call that is
// ours: with 64 calls under way it decides how soon a batch is done. Nothing is followed, stored or unpacked here.

import { Agent as HTTPAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HTTPSAgent, request as httpsRequest } from "node:https";
import { onAbort } from "../../util/async/on-abort.ts";

/** Servers close connections that nobody uses, most of them after 5 s or more. */
const IDLE_MS = 4_000;
const MAX_IDLE = 256;
/** Answers that have no body, not even an empty one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

export class HTTPClient {
  readonly #settings = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE };
  readonly #http = new HTTPAgent(this.#settings);
  readonly #https = new HTTPSAgent(this.#settings);

  /** Rejects with the signal's reason, or as `fetch` does. */
  fetch(url: URL, init: RequestInit): Promise<Response> {
    const { method = "GET", body, signal } = init;
    if (body !== undefined && body !== null && typeof body !== "string") {
      throw new TypeError("Cannot send a request: its body is no text");
    }
    const isSecure = url.protocol === "https:";
    const headers = Object.fromEntries(new Headers(init.headers));
    const options = { method, headers, agent: isSecure ? this.#https : this.#http };
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const request = (isSecure ? httpsRequest : httpRequest)(url, options);
      const unlisten = onAbort(signal ?? undefined, () => request.destroy(toError(signal?.reason)));
      request.once("close", unlisten);
      request.once("error", (error) => {
        reject(signal?.aborted === true ? toError(signal.reason) : new TypeError("fetch failed", { cause: error }));
      });
      request.once("response", (message) => {
        try {
          resolve(toResponse(message));
        } catch (error) {
          request.destroy();
          reject(toError(error));
        }
      });
      request.end(body ?? undefined); // in one piece, so its length is told
    });
  }
}

function toResponse(message: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  if (status < 200 || status > 599) throw new TypeError(`Cannot read an answer with the status ${status}`);
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  if (!BODILESS.has(status)) return new Response(toBody(message), { status, headers });
  message.resume();
  return new Response(null, { status, headers });
}

/** Reads no faster than its reader. */
function toBody(message: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(out) {
      message.on("data", (chunk: Buffer) => {
        out.enqueue(chunk);
        if ((out.desiredSize ?? 0) <= 0) message.pause();
      });
      message.once("end", () => out.close());
      // Also where the connection ends in the middle of the answer.
      message.once("error", (error) => out.error(new TypeError("terminated", { cause: error })));
      message.pause();
    },
    pull: () => void message.resume(),
    cancel: (reason) => void message.destroy(toError(reason)),
  });
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
