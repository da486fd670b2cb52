// What backends that talk to a provider have in common: limits on time and size, requests that are changed and sent again where they
// are refused, and errors that are BackendConnectionErrors.

import { BackendConnectionError } from "../../errors.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Backend, BackendRequest, ModelFacts, StreamPart } from "../backend.ts";
import { toBackendError } from "./errors/to-backend-error.ts";
import type { WireRequest } from "./protocols/wire-protocol.ts";
import { parseRateLimits } from "./rate-limit-headers.ts";
import { Adaptations, type AdaptedRequest } from "./refusals/adaptations.ts";
import { readRefusal } from "./refusals/refusal.ts";
import { ResponseLimits, type TimeLimits } from "./response-limits.ts";

const OVER = new Error("The call is over");

export interface StreamingOptions {
  readonly limits: TimeLimits;
  /** Never in an error. */
  readonly secrets: readonly string[];
  /** For requests without a limit on the answer, where the API demands one. */
  readonly defaultMaxTokens?: number | undefined;
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
  readonly #adaptations: Adaptations;

  constructor(name: string, { limits, secrets, defaultMaxTokens }: StreamingOptions) {
    this.name = name;
    this.secrets = secrets;
    this.#limits = limits;
    this.#adaptations = new Adaptations(defaultMaxTokens);
  }

  factsOf(model: string): ModelFacts {
    return this.#adaptations.factsOf(model);
  }

  protected learnFacts(model: string, facts: ModelFacts): void {
    this.#adaptations.learnFacts(model, facts);
  }

  /** Sends the request. Rejects where it is turned away. */
  protected abstract send(request: WireRequest, exchange: Exchange): Promise<Response>;

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
    const adapted = this.#adaptations.start(request);
    let isReading = false;
    try {
      for (;;) {
        const response = await this.#send(adapted, exchange);
        yield this.#toStart(response);
        isReading = true;
        const parts = this.read(response, exchange);
        try {
          const first = await this.#readFirst(parts, adapted, exchange);
          if (first === "refused") continue;
          if (first.done !== true) yield first.value;
          const isComplete = first.done === true ? first.value : yield* parts;
          const why = "the answer broke off before its end";
          if (!isComplete)
            throw new BackendConnectionError({ backend: this.name, fault: "connection", why, retryable: true });
          return;
        } finally {
          await parts.return(false);
        }
      }
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

  /** Sends it until it is accepted, or refused for something that cannot be changed. */
  async #send(adapted: AdaptedRequest, exchange: Exchange): Promise<Response> {
    for (;;) {
      try {
        return await this.send(adapted.current, exchange);
      } catch (error) {
        this.#change(adapted, error, exchange);
      }
    }
  }

  /** Some servers accept every request, and refuse it in the first event. */
  async #readFirst(
    parts: AsyncGenerator<StreamPart, boolean>,
    adapted: AdaptedRequest,
    exchange: Exchange,
  ): Promise<IteratorResult<StreamPart, boolean> | "refused"> {
    try {
      const first = await parts.next();
      adapted.accepted();
      return first;
    } catch (error) {
      this.#change(adapted, error, exchange);
      return "refused";
    }
  }

  /** Throws the error where it refuses nothing that could be changed. */
  #change(adapted: AdaptedRequest, error: unknown, exchange: Exchange): void {
    exchange.signal.throwIfAborted();
    const fault = toBackendError(error, this.name, this.secrets);
    if (!adapted.refused(fault, readRefusal(error))) throw fault;
  }
}
