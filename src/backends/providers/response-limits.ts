// Limits on one response: how long the provider may be silent, how long the whole may take, how many bytes it may have.
//
// A limit that is reached aborts the call's controller with a BackendConnectionError as the reason.

import { BackendConnectionError } from "../../errors.ts";

export interface TimeLimits {
  /** Silence before the answer begins; reasoning models may be silent for long. At most 300 s. Default: 120 s. */
  readonly firstByteMs: number;
  /** Silence after it has begun. Default: 60 s. */
  readonly betweenBytesMs: number;
  /** The whole call: some providers send keep-alives for ever. Default: 30 minutes. */
  readonly totalMs: number;
}

const MAX_BYTES = 256 * 1024 * 1024;

export class ResponseLimits {
  readonly #controller: AbortController;
  readonly #backend: string;
  readonly #limits: TimeLimits;
  readonly #total: NodeJS.Timeout;
  #silence: NodeJS.Timeout;
  #isAnswering = false;
  #bytes = 0;

  constructor(controller: AbortController, backend: string, limits: TimeLimits) {
    this.#controller = controller;
    this.#backend = backend;
    this.#limits = limits;
    this.#silence = this.#abortAfter(limits.firstByteMs, "nothing came");
    this.#total = this.#abortAfter(limits.totalMs, "it was not complete");
  }

  /** The provider is alive: silence is counted from now on. */
  received(bytes: number): void {
    this.#silence.refresh();
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES) this.#abort("malformed", `it has more than ${MAX_BYTES} bytes`, false);
  }

  /** The first part of the answer arrived: from now on the shorter limit applies. */
  startAnswer(): void {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    clearTimeout(this.#silence);
    this.#silence = this.#abortAfter(this.#limits.betweenBytesMs, "nothing more came");
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
  }

  #abortAfter(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => this.#abort("timeout", `${what} within ${ms / 1000} s`, true), ms);
  }

  #abort(fault: "timeout" | "malformed", why: string, retryable: boolean): void {
    this.#controller.abort(new BackendConnectionError({ backend: this.#backend, fault, why, retryable }));
  }
}
