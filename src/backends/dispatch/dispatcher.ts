// Calls of models: concurrency, pace, queueing, retries.
//
// A call holds a slot only while its request is in flight. Waiting for a limit of the provider costs no attempt: the call waits as long as
// its time lasts and the provider accepts anything at all. Other faults are retried a few times.
//
// A call does not throw: its usage has to be paid for however it ended, so the outcome has both the error and the usage.

import type { DispatchOptions } from "../../api/local.ts";
import { BackendConnectionError } from "../../errors.ts";
import { addUsage, NO_USAGE } from "../../protocol/usage.ts";
import { checkCount } from "../../util/check-number.ts";
import type { Backend, BackendRequest } from "../backend.ts";
import { ReasoningHabits } from "../reasoning/reasoning-habits.ts";
import { Attempt } from "./attempt.ts";
import type { CallOptions, CallOutcome, CallTotals } from "./call.ts";
import { sleep, systemClock, type Clock } from "./clock.ts";
import { Lanes } from "./lanes.ts";
import type { Rejection } from "./limits/lane.ts";
import { LimitWait, type LimitWaitOptions } from "./limit-wait.ts";

export interface DispatcherOptions extends DispatchOptions {
  readonly clock?: Clock;
  /** Jitter from 0 to 1; a delay is between half and all of its nominal value. Default: `Math.random`. */
  readonly random?: () => number;
}

const MAX_DELAY_MS = 30_000;

export class Dispatcher {
  readonly #lanes: Lanes;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #maxTries: number;
  readonly #waitOptions: LimitWaitOptions;
  readonly #firstDelayMs: number;
  readonly #habits = new ReasoningHabits();

  constructor(options: DispatcherOptions = {}) {
    const {
      maxConcurrency = 64,
      maxTries = 4,
      firstDelayMs = 500,
      clock = systemClock,
      random = Math.random,
    } = options;
    checkCount("maxTries", maxTries, 1);
    this.#lanes = new Lanes({ maxConcurrency, firstDelayMs, random, clock });
    this.#clock = clock;
    this.#random = random;
    this.#maxTries = maxTries;
    this.#waitOptions = { clock, maxWaitMs: options.maxWaitMs ?? 300_000 };
    this.#firstDelayMs = firstDelayMs;
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#lanes.inFlight;
  }

  /** Calls that wait for a slot. */
  get waiting(): number {
    return this.#lanes.waiting;
  }

  /** Never rejects: see `ok` of the outcome. */
  async call(backend: Backend, request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    const { signal, onPart, group = this } = options;
    const open = this.#lanes.laneOf(backend, request.model);
    const { lane } = open;
    const wait = new LimitWait(backend.name, lane, options, this.#waitOptions);
    let totals: CallTotals = { usage: NO_USAGE, attempts: 0 };
    const reconsider = (ahead: number, isRejected: boolean): void => {
      wait.checkPause();
      if (isRejected) wait.checkBlockage();
      wait.report(ahead, totals.attempts);
    };
    const applicant = { ticket: this.#lanes.createTicket(), group, signal, reconsider };
    const failed = (error: unknown): CallOutcome => ({ ok: false, error: errorOf(error, options), ...totals });
    let tries = 0;
    let waitedMs = 0;
    try {
      for (;;) {
        wait.checkPause();
        wait.report(open.calls.before(applicant.ticket), totals.attempts);
        const slot = this.#lanes.tryEnter(open, applicant) ?? (await this.#lanes.enter(open, applicant));
        const attempt = new Attempt(backend, request, this.#habits.openSplitter(open.key, request), options.estimates);
        await attempt.run(options, (limits) => this.#lanes.accept(slot, limits, attempt.inputTokens)); // never rejects
        const { error, isAccepted } = attempt;
        const rejection = isAccepted ? undefined : toRejection(error);
        if (rejection === undefined && isRetryable(error)) lane.pause(error.retryAfterMs ?? 0, this.#clock.now());
        this.#lanes.end(slot, rejection);
        totals = { usage: addUsage(totals.usage, attempt.usage), attempts: totals.attempts + 1 };
        if (error === null) {
          const { text, reasoning, finishReason } = attempt.answer;
          return { ok: true, text, reasoning, finishReason, ...totals };
        }
        if (!isRetryable(error)) return failed(error);
        if (rejection === undefined) tries += 1;
        else {
          wait.checkBlockage(error);
          wait.checkPause(); // no wait is announced that is not made
        }
        const delayMs =
          rejection === undefined
            ? this.#delayBefore(tries + 1, error, waitedMs)
            : Math.ceil(lane.waitMs(open.calls.before(applicant.ticket), this.#clock.now()));
        if (delayMs === null) return failed(error);
        wait.expect(delayMs);
        await onPart?.({ type: "retry", error, delayMs, ...totals });
        if (rejection !== undefined) continue; // the lane says when
        await sleep(delayMs, signal, this.#clock);
        waitedMs += delayMs;
      }
    } catch (error) {
      return failed(error);
    }
  }

  /** Null: no further attempt. */
  #delayBefore(nextTry: number, error: BackendConnectionError, waitedMs: number): number | null {
    if (nextTry > this.#maxTries) return null;
    const longest = Math.min(MAX_DELAY_MS, this.#firstDelayMs * 2 ** (nextTry - 2));
    const delayMs = Math.max(error.retryAfterMs ?? 0, longest * (0.5 + this.#random() / 2));
    return waitedMs + delayMs > this.#waitOptions.maxWaitMs ? null : delayMs;
  }
}

/** Undefined: no limit of the provider was in the way. */
function toRejection(error: unknown): Rejection | undefined {
  if (!isRetryable(error)) return undefined;
  const { fault, status, retryAfterMs, message } = error;
  const isOverload = status === 529 || (status === 503 && retryAfterMs !== null);
  return fault === "rate-limit" || isOverload ? { retryAfterMs, isOverload, message } : undefined;
}

function isRetryable(error: unknown): error is BackendConnectionError {
  return error instanceof BackendConnectionError && error.retryable;
}

/** After an abort the caller gets its own reason, whatever error the abort caused. */
function errorOf(error: unknown, { signal }: CallOptions): unknown {
  return signal.aborted ? signal.reason : error;
}
