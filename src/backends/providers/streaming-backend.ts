// What backends that talk to a provider have in common: limits on time and size, one retry without a refused setting, and errors
// that are BackendConnectionErrors.

import { BackendConnectionError } from "../../errors.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Backend, BackendRequest, StreamPart } from "../backend.ts";
import { toBackendError } from "./errors/to-backend-error.ts";
import { parseRateLimits } from "./rate-limit-headers.ts";
import { RefusedSettings } from "./refused-settings.ts";
import { ResponseLimits, type TimeLimits } from "./response-limits.ts";

const OVER = new Error("The call is over");

export interface StreamingOptions {
  readonly limits: TimeLimits;
  /** Never in an error. */
  readonly secrets: readonly string[];
}

/** What a request is made with. */
export interface Exchange {
  readonly limits: ResponseLimits;
  /** Aborted by the caller or by a limit. */
  readonly signal: AbortSignal;
}

export abstract class StreamingBackend<Response> implements Backend {
  readonly name: string;
  protected readonly secrets: readonly string[];
  readonly #limits: TimeLimits;
  readonly #refused = new RefusedSettings();

  constructor(name: string, { limits, secrets }: StreamingOptions) {
    this.name = name;
    this.secrets = secrets;
    this.#limits = limits;
  }

  /** Sends the request. Rejects where it is turned away. */
  protected abstract send(request: BackendRequest, exchange: Exchange): Promise<Response>;

  /** Of an accepted response, with lower-case names. Undefined: not known. */
  protected abstract headersOf(response: Response): Readonly<Record<string, string | string[] | undefined>> | undefined;

  /** Returns true after an `end` part, and false where the response ended before it. Leaving it closes the response. */
  protected abstract read(response: Response, exchange: Exchange): AsyncGenerator<StreamPart, boolean>;

  async *stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    options.signal.throwIfAborted();
    const call = new AbortController();
    const unlisten = onAbort(options.signal, () => call.abort(options.signal.reason));
    const limits = new ResponseLimits(call, this.name, this.#limits);
    const exchange = { limits, signal: call.signal };
    let isReading = false;
    try {
      const response = await this.#sendAdapted(request, exchange);
      yield this.#toStart(response);
      isReading = true;
      const isComplete = yield* this.read(response, exchange);
      const why = "the answer broke off before its end";
      if (!isComplete)
        throw new BackendConnectionError({ backend: this.name, fault: "connection", why, retryable: true });
    } catch (error) {
      options.signal.throwIfAborted();
      call.signal.throwIfAborted(); // a limit: its fault is the reason
      throw toBackendError(error, this.name, this.secrets);
    } finally {
      unlisten();
      limits.stop();
      // Left at its start: nothing else closes the response.
      if (!isReading) call.abort(OVER);
    }
  }

  #toStart(response: Response): StreamPart {
    const rateLimits = parseRateLimits(this.headersOf(response) ?? {}, Date.now());
    return { type: "response-start", ...(rateLimits !== undefined && { rateLimits }) };
  }

  async #sendAdapted(request: BackendRequest, exchange: Exchange): Promise<Response> {
    const sent = this.#refused.adapt(request);
    try {
      return await this.send(sent, exchange);
    } catch (error) {
      exchange.signal.throwIfAborted();
      const fault = toBackendError(error, this.name, this.secrets);
      if (!this.#refused.learn(sent, fault)) throw fault;
      return this.send(this.#refused.adapt(request), exchange);
    }
  }
}
