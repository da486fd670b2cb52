// Calls of models: how many at once, in which order, and what is tried again.
//
// A call holds a slot only while its request is under way: not while it waits before another try, nor while its model is paused.
// A provider that says when to come back pauses its model for everybody. Whatever ends a call, its slot is free at once.
//
// A call does not throw. What it used is to be paid for, however it ended, so the outcome has both: the error and the usage.

import { BackendConnectionError } from "../../errors.ts";
import { checkCount } from "../../util/check-number.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Backend, BackendRequest } from "../backend.ts";
import type { CallOptions, CallOutcome, CallSpent } from "./call.ts";
import { systemClock } from "./clock.ts";
import type { Clock } from "./clock.ts";
import { Slots } from "./model-slots.ts";
import { Try } from "./attempt.ts";
import { addUsage, NO_USAGE } from "../../protocol/usage.ts";

export interface DispatcherOptions {
  /** Requests under way at once, of all models. Default: 64. */
  readonly maxInFlight?: number;
  /** Of one model of one backend. Default: 64. */
  readonly maxPerModel?: number;
  /** How often a call is tried, the first time included. Default: 4. */
  readonly maxTries?: number;
  /** The most that one call waits between its tries, all together. Default: 120 s. */
  readonly maxWaitMs?: number;
  /** Before the second try; it doubles each time, up to 30 s. Default: 500 ms. */
  readonly firstDelayMs?: number;
  readonly clock?: Clock;
  /** From 0 to 1; a delay is between its half and its whole. Default: `Math.random`. */
  readonly random?: () => number;
}

const MAX_DELAY_MS = 30_000;

export class Dispatcher {
  readonly #slots: Slots;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #maxTries: number;
  readonly #maxWaitMs: number;
  readonly #firstDelayMs: number;

  constructor(options: DispatcherOptions = {}) {
    const { maxInFlight = 64, maxPerModel = 64, maxTries = 4, clock = systemClock } = options;
    checkCount("maxInFlight", maxInFlight, 1);
    checkCount("maxPerModel", maxPerModel, 1);
    checkCount("maxTries", maxTries, 1);
    this.#slots = new Slots({ maxInFlight, maxPerModel, clock });
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#maxTries = maxTries;
    this.#maxWaitMs = options.maxWaitMs ?? 120_000;
    this.#firstDelayMs = options.firstDelayMs ?? 500;
  }

  /** Requests under way. */
  get inFlight(): number {
    return this.#slots.inFlight;
  }

  /** Calls that wait for a slot. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /** Never rejects: see `ok` of the outcome. */
  async call(backend: Backend, request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    const lane = `${backend.name} ${request.model}`;
    const ticket = this.#slots.takeTicket();
    let spent: CallSpent = { usage: NO_USAGE, tries: 0 };
    let waitedMs = 0;
    try {
      for (;;) {
        this.#checkPause(backend.name, lane);
        const release =
          this.#slots.takeNow(lane, ticket, options.signal) ?? (await this.#slots.take(lane, ticket, options.signal));
        const attempt = new Try(backend, request, options.estimates);
        await attempt.run(options); // never rejects
        const { error } = attempt;
        if (isRetryable(error)) this.#slots.pause(lane, error.retryAfterMs ?? 0);
        release();
        spent = add(spent, attempt);
        if (error === null) {
          const { text, reasoning, finishReason } = attempt.answer;
          return { ok: true, text, reasoning, finishReason, ...spent };
        }
        const delayMs = this.#delayBefore(spent.tries + 1, error, waitedMs);
        if (delayMs === null || !isRetryable(error)) return { ok: false, error: errorOf(error, options), ...spent };
        await options.onPart?.({ type: "retry", error, delayMs, usage: spent.usage });
        await this.#wait(delayMs, options.signal);
        waitedMs += delayMs;
      }
    } catch (error) {
      return { ok: false, error: errorOf(error, options), ...spent };
    }
  }

  /** Null: no further try. */
  #delayBefore(nextTry: number, error: unknown, waitedMs: number): number | null {
    if (!isRetryable(error) || nextTry > this.#maxTries) return null;
    const longest = Math.min(MAX_DELAY_MS, this.#firstDelayMs * 2 ** (nextTry - 2));
    const delayMs = Math.max(error.retryAfterMs ?? 0, longest * (0.5 + this.#random() / 2));
    return waitedMs + delayMs > this.#maxWaitMs ? null : delayMs;
  }

  /** Rather than wait for ever in a line that does not move. */
  #checkPause(backend: string, lane: string): void {
    const retryAfterMs = Math.ceil(this.#slots.pauseOf(lane));
    if (retryAfterMs <= this.#maxWaitMs) return;
    const why = `too many requests: it wants to be left alone for another ${Math.ceil(retryAfterMs / 1000)} s`;
    throw new BackendConnectionError({ backend, fault: "rate-limit", why, status: 429, retryable: true, retryAfterMs });
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const forget = this.#clock.after(ms, () => {
        unlisten();
        resolve();
      });
      const unlisten = onAbort(signal, () => {
        forget();
        reject(signal.reason as Error);
      });
    });
  }
}

function isRetryable(error: unknown): error is BackendConnectionError {
  return error instanceof BackendConnectionError && error.retryable;
}

/** The caller's reason, unchanged, whatever the abort made of it on its way. */
function errorOf(error: unknown, { signal }: CallOptions): unknown {
  return signal.aborted ? signal.reason : error;
}

function add(spent: CallSpent, attempt: Try): CallSpent {
  return { usage: addUsage(spent.usage, attempt.usage), tries: spent.tries + 1 };
}
