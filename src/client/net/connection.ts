// The connection to one server: an address, a token, and everything that is under way.
//
// One attempt is one `fetch`. It ends with a response that is ours, with a final error, or with a TemporaryFailure after which another
// attempt may succeed. The token is asked for before each attempt, and kept nowhere that a log could show.

import { configurationError, connectionError, notOurs, TemporaryFailure, toLostConnection } from "./failure.ts";
import { Backoff } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import type { RequestBody } from "./body.ts";
import { isKnown, problem, toError } from "./problem.ts";
import { readBytes, SILENCE_MS, Silence, toJSON, TooLarge } from "./read-body.ts";
import type { Signal } from "../../api/web-types.ts";

/** The version of the protocol. Additions do not change it. */
export const PROTOCOL = 1;
/** A connection that is lost after this long was of use: proxies cut idle ones, most after a minute, some earlier. */
const LONG_WAIT_MS = 5_000;
const MAX_PROBLEM_BYTES = 1024 * 1024;
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** Refusals by the guards of the server: nothing but a change of its configuration, or of ours, helps. */
const MISCONFIGURED: ReadonlySet<string> = new Set(["HOST_NOT_ALLOWED", "ORIGIN_NOT_ALLOWED", "PROTOCOL_VERSION"]);

export interface ConnectionOptions {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: () => string | Promise<string>;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly maxElapsedMs: number;
  readonly onWarning: (message: string) => void;
  /** Of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Attempt {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody | undefined;
  readonly signal?: Signal | undefined;
  /** Whether the response may take as long as it takes: nothing is known before it comes. */
  readonly isPatient?: boolean;
}

/** A response whose body is unread. Close it when done: that ends the connection where something is unread. */
export interface Exchange {
  readonly response: Response;
  /** What is thrown where reading the body throws this. */
  readonly toFailure: (error: unknown) => unknown;
  readonly close: () => void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #closing: AbortController;
  /** One for each attempt that is under way. */
  readonly #active: Set<AbortController>;

  /** `shared`: the connection of which this is a part, and with which it closes. */
  constructor(options: ConnectionOptions, shared?: Connection) {
    this.#options = options;
    this.#closing = shared === undefined ? new AbortController() : shared.#closing;
    this.#active = shared === undefined ? new Set() : shared.#active;
  }

  /** The same connection, for requests that have these headers. */
  withHeaders(headers: Readonly<Record<string, string>>): Connection {
    return new Connection({ ...this.#options, headers }, this);
  }

  get url(): string {
    return this.#options.url;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Aborted by `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  warn(message: string): void {
    this.#options.onWarning(message);
  }

  close(): void {
    this.#closing.abort(
      connectionError(
        this.url,
        `The connection to ${this.url} was closed with close(): work that was started there may go on`,
      ),
    );
    for (const controller of this.#active) controller.abort();
  }

  backoff(): Backoff {
    const { clock, maxElapsedMs } = this.#options;
    const onFirst = (): void => this.warn(`The connection to ${this.url} failed: trying again`);
    return new Backoff({ clock, maxElapsedMs, onFirst });
  }

  /**
   * Whether what failed was only a wait that something on the way, such as a proxy, did not let last: the server is there. `beganAt` is
   * when the wait began.
   */
  async wasWaiting({ isSilence }: TemporaryFailure, beganAt: number, signal?: Signal): Promise<boolean> {
    if (!isSilence && this.clock.now() - beganAt < LONG_WAIT_MS) return false;
    try {
      const { close } = await this.attempt("GET", "/v1/version", { signal });
      close();
      return true;
    } catch {
      return false;
    }
  }

  /** Throws a TemporaryFailure, the reason of a signal, or a final error. */
  async attempt(method: string, path: string, { headers, body, signal, isPatient }: Attempt = {}): Promise<Exchange> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    signal?.addEventListener("abort", abort, { once: true });
    this.#active.add(controller);
    const close = (): void => {
      signal?.removeEventListener("abort", abort);
      this.#active.delete(controller);
      controller.abort();
    };
    const toFailure = (error: unknown): unknown => {
      if (signal?.aborted === true) return signal.reason;
      if (this.closing.aborted) return this.closing.reason as unknown;
      if (body?.failure !== undefined) return body.failure.error;
      if (error instanceof TooLarge) return notOurs(this.url, `its response is too large: ${error.message}`);
      if (error instanceof Silence) return this.#silence();
      return toLostConnection(this.url, error);
    };
    let cancelTimer = (): void => {};
    try {
      this.closing.throwIfAborted();
      signal?.throwIfAborted();
      const authorization = await this.#authorization();
      let isSilent = false;
      if (isPatient !== true && body?.isStream !== true) {
        cancelTimer = this.clock.start(SILENCE_MS, () => {
          isSilent = true;
          controller.abort();
        });
      }
      let response: Response;
      try {
        if (controller.signal.aborted) throw new Silence();
        response = await this.#fetch(method, path, { ...headers, authorization }, body, controller.signal);
      } catch (error) {
        throw toFailure(isSilent ? new Silence() : error);
      }
      cancelTimer();
      await this.#check(response, toFailure);
      return { response, toFailure, close };
    } catch (error) {
      cancelTimer();
      close();
      throw error;
    }
  }

  #fetch(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: RequestBody | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const { url, fetch, headers: own } = this.#options;
    const type = body?.contentType;
    const content = body?.open(signal);
    const isStream = body?.isStream === true;
    const init = {
      method,
      // Node's fetch keeps a copy of a whole stream for a redirect, unless there can be none.
      ...(isStream ? { redirect: "error", window: null } : { redirect: "manual" }),
      signal,
      cache: "no-store",
      headers: {
        "rlm-protocol": String(PROTOCOL),
        ...own,
        ...(type !== undefined && { "content-type": type }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
      ...(isStream && { duplex: "half" }),
    };
    return fetch(url + path, init as RequestInit);
  }

  /** The token is in no message: a header that cannot be sent would be quoted. */
  async #authorization(): Promise<string> {
    const token: unknown = await this.#options.token();
    if (typeof token === "string" && /^[\x21-\x7E]+$/.test(token)) return `Bearer ${token}`;
    throw configurationError(this.url, "Cannot use the token: it must be a string of visible characters");
  }

  async #check(response: Response, toFailure: Exchange["toFailure"]): Promise<void> {
    const { status, headers, type } = response;
    const spoken = headers.get("rlm-protocol");
    if (spoken !== null && spoken !== String(PROTOCOL)) throw otherProtocol(this.url, spoken);
    if (response.ok) return;
    if (type === "opaqueredirect" || (status >= 300 && status < 400)) {
      throw notOurs(this.url, "it redirects to another address, which is not followed");
    }
    const contentType = headers.get("content-type") ?? "";
    const retryAfterMs = Math.max(0, Number(headers.get("retry-after") ?? 0) * 1000) || 0;
    const parsed = contentType.startsWith("application/problem+json")
      ? await readBytes(response, this.clock, MAX_PROBLEM_BYTES).then(toJSON, (error: unknown) => {
          throw toFailure(error);
        })
      : undefined;
    if (!problem(parsed)) {
      if (TEMPORARY.has(status)) {
        throw new TemporaryFailure(
          connectionError(this.url, `Cannot reach the server at ${this.url}: a proxy answered ${status}`),
          { retryAfterMs },
        );
      }
      throw notOurs(this.url, `it answered ${status} ${contentType.slice(0, 100)}`);
    }
    const { code, detail } = parsed;
    if (status === 401) throw configurationError(this.url, `The server at ${this.url} rejected the token`);
    if (MISCONFIGURED.has(code)) throw configurationError(this.url, detail);
    if (TEMPORARY.has(status) && !isKnown(code)) {
      throw new TemporaryFailure(connectionError(this.url, detail, toError(parsed)), { retryAfterMs });
    }
    throw toError(parsed);
  }

  #silence(): TemporaryFailure {
    return new TemporaryFailure(connectionError(this.url, `The server at ${this.url} does not answer`), {
      isSilence: true,
    });
  }
}

export function otherProtocol(url: string, spoken: unknown): Error {
  const version = Number(spoken);
  if (!Number.isSafeInteger(version)) return notOurs(url, "it names no version of the protocol");
  const side = version > PROTOCOL ? "rlm-runtime here" : "the server";
  return configurationError(
    url,
    `Cannot use the server at ${url}: it speaks version ${version} of the protocol, and this client version ${PROTOCOL}. Update ${side}`,
  );
}
