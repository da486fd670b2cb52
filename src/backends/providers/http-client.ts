// Requests over Node's own HTTP, with connections that are kept alive.
//
// Node's `fetch` takes several times as long per request, which with 64 calls in flight decides how soon a batch is done.
// Redirects are not followed: one would take the key to another host.

import { Agent as HTTPAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HTTPSAgent, request as httpsRequest } from "node:https";
import { onAbort } from "../../util/async/on-abort.ts";

/** Most servers close idle connections after 5 s or more. */
const IDLE_MS = 4_000;
const MAX_IDLE = 256;
/** How long the end of a response that was read may take, before its connection is given up. */
const DRAIN_MS = 1_000;

export interface GetOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface PostOptions extends GetOptions {
  readonly body: string;
}

export class HTTPClient {
  readonly #settings = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE };
  readonly #http = new HTTPAgent(this.#settings);
  readonly #https = new HTTPSAgent(this.#settings);

  /** Resolves with the headers of the response. Aborting destroys the connection, also while the body is read. */
  post(url: URL, options: PostOptions): Promise<IncomingMessage> {
    return this.#request("POST", url, options);
  }

  /** Like `post`. */
  get(url: URL, options: GetOptions): Promise<IncomingMessage> {
    return this.#request("GET", url, options);
  }

  #request(
    method: string,
    url: URL,
    { headers, body, signal }: GetOptions & { body?: string },
  ): Promise<IncomingMessage> {
    const isSecure = url.protocol === "https:";
    const options = { method, headers, agent: isSecure ? this.#https : this.#http };
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const request = (isSecure ? httpsRequest : httpRequest)(url, options);
      const unlisten = onAbort(signal, () => request.destroy());
      request.once("close", unlisten);
      request.on("error", reject);
      request.once("response", resolve);
      request.end(body); // in one piece, so that the length is sent
    });
  }
}

/** Reads the rest of a response that has nothing more to say, so that its connection can be used again. */
export function drain(response: IncomingMessage): void {
  if (response.complete) return;
  const timer = setTimeout(() => response.destroy(), DRAIN_MS);
  response.once("close", () => clearTimeout(timer));
  response.once("error", () => {});
  response.resume();
}
