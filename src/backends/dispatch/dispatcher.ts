// Calls of models: concurrency, queueing, retries.
//
// A call holds a slot only while its request is in flight, not while it waits for a retry or while its model is paused. A
// Retry-After pauses the model for all calls. The slot is free as soon as the call ends, whatever ends it.
//
// A call does not throw: its usage has to be paid for however it ended, so the outcome has both the error and the usage.

import type { DispatchOptions } from "../../api/local.ts";
import { BackendConnectionError } from "../../errors.ts";
import { checkCount } from "../../util/check-number.ts";
import type { Backend, BackendRequest } from "../backend.ts";
import type { CallOptions, CallOutcome, CallTotals } from "./call.ts";
import { sleep, systemClock, type Clock } from "./clock.ts";
import { ModelSlots } from "./model-slots.ts";
import { Attempt } from "./attempt.ts";
import { ReasoningHabits } from "../reasoning/reasoning-habits.ts";
import { addUsage, NO_USAGE } from "../../protocol/usage.ts";

export interface DispatcherOptions extends DispatchOptions {
  readonly clock?: Clock;
  /** Jitter from 0 to 1; a delay is between half and all of its nominal value. Default: `Math.random`. */
  readonly random?: () => number;
}

const MAX_DELAY_MS = 30_000;

export class Dispatcher {
  readonly #slots: ModelSlots;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #maxTries: number;
  readonly #maxWaitMs: number;
  readonly #firstDelayMs: number;
  readonly #habits = new ReasoningHabits();

  constructor(options: DispatcherOptions = {}) {
    const { maxInFlight = 64, maxPerModel = 64, maxTries = 4, clock = systemClock } = options;
    checkCount("maxInFlight", maxInFlight, 1);
    checkCount("maxPerModel", maxPerModel, 1);
    checkCount("maxTries", maxTries, 1);
    this.#slots = new ModelSlots({ maxInFlight, maxPerModel, clock });
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#maxTries = maxTries;
    this.#maxWaitMs = options.maxWaitMs ?? 120_000;
    this.#firstDelayMs = options.firstDelayMs ?? 500;
  }

  /** Requests in flight. */
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
    const ticket = this.#slots.createTicket();
    let totals: CallTotals = { usage: NO_USAGE, attempts: 0 };
    let waitedMs = 0;
    try {
      for (;;) {
        const pausedMs = this.#checkPause(backend.name, lane);
        // A timer may end less than a millisecond early: the rest of a pause that this call has waited for is none of its own.
        if (pausedMs > 1) await options.onPart?.({ type: "pause", delayMs: pausedMs, attempts: totals.attempts });
        const release =
          this.#slots.tryAcquire(lane, ticket, options.signal) ??
          (await this.#slots.acquire(lane, ticket, options.signal));
        const attempt = new Attempt(backend, request, this.#habits.openSplitter(lane, request), options.estimates);
        await attempt.run(options); // never rejects
        const { error } = attempt;
        if (isRetryable(error)) this.#slots.pause(lane, error.retryAfterMs ?? 0);
        release();
        totals = { usage: addUsage(totals.usage, attempt.usage), attempts: totals.attempts + 1 };
        if (error === null) {
          const { text, reasoning, finishReason } = attempt.answer;
          return { ok: true, text, reasoning, finishReason, ...totals };
        }
        const delayMs = this.#delayBefore(totals.attempts + 1, error, waitedMs);
        if (delayMs === null || !isRetryable(error)) return { ok: false, error: errorOf(error, options), ...totals };
        await options.onPart?.({ type: "retry", error, delayMs, ...totals });
        await sleep(delayMs, options.signal, this.#clock);
        waitedMs += delayMs;
      }
    } catch (error) {
      return { ok: false, error: errorOf(error, options), ...totals };
    }
  }

  /** Null: no further attempt. */
  #delayBefore(nextAttempt: number, error: unknown, waitedMs: number): number | null {
    if (!isRetryable(error) || nextAttempt > this.#maxTries) return null;
    const longest = Math.min(MAX_DELAY_MS, this.#firstDelayMs * 2 ** (nextAttempt - 2));
    const delayMs = Math.max(error.retryAfterMs ?? 0, longest * (0.5 + this.#random() / 2));
    return waitedMs + delayMs > this.#maxWaitMs ? null : delayMs;
  }

  /** How long the model is paused. Fails at once where that is longer than a call may wait. */
  #checkPause(backend: string, lane: string): number {
    const retryAfterMs = Math.ceil(this.#slots.pauseOf(lane));
    if (retryAfterMs <= this.#maxWaitMs) return retryAfterMs;
    const why = `too many requests: it wants to be left alone for another ${Math.ceil(retryAfterMs / 1000)} s`;
    throw new BackendConnectionError({ backend, fault: "rate-limit", why, status: 429, retryable: true, retryAfterMs });
  }
}

function isRetryable(error: unknown): error is BackendConnectionError {
  return error instanceof BackendConnectionError && error.retryable;
}

/** After an abort the caller gets its own reason, whatever error the abort caused. */
function errorOf(error: unknown, { signal }: CallOptions): unknown {
  return signal.aborted ? signal.reason : error;
}
