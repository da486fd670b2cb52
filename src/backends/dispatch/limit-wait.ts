// How one call waits for the limits of its provider: for how long, who is told, and when it gives up.

import { BackendConnectionError } from "../../errors.ts";
import { formatCount } from "../../util/text/format.ts";
import type { CallOptions } from "./call.ts";
import type { Clock } from "./clock.ts";
import type { Lane } from "./limits/lane.ts";

export interface LimitWaitOptions {
  readonly clock: Clock;
  readonly maxWaitMs: number;
}

/** A wait is reported again where it became longer by this much, and by half of what was expected or waited so far. */
const MATERIAL_MS = 5_000;

export class LimitWait {
  readonly #backend: string;
  readonly #lane: Lane;
  readonly #callOptions: CallOptions;
  readonly #options: LimitWaitOptions;
  /** Until when the call waits, as reported last. */
  #until = -Infinity;
  /** The time of the first report. */
  #since = 0;

  /** `backend`: its name. */
  constructor(backend: string, lane: Lane, callOptions: CallOptions, options: LimitWaitOptions) {
    this.#backend = backend;
    this.#lane = lane;
    this.#callOptions = callOptions;
    this.#options = options;
  }

  /** Throws a BackendConnectionError where the provider asks for a longer wait than the call can afford. */
  checkPause(): void {
    const { clock, maxWaitMs } = this.#options;
    const { timeLeftMs } = this.#callOptions;
    const askedMs = Math.ceil(this.#lane.askedMs(clock.now()));
    if (askedMs === 0) return;
    const left = timeLeftMs?.() ?? Infinity;
    if (askedMs <= (left === Infinity ? maxWaitMs : left)) return;
    const rest = left === Infinity ? "" : `, but only ${toSeconds(left)} are left`;
    throw this.#tooMany(`it asks to wait another ${toSeconds(askedMs)}${rest}`, askedMs);
  }

  /** Throws a BackendConnectionError where nothing has been accepted for too long. `error`: the call's own, if it was just rejected. */
  checkBlockage(error?: BackendConnectionError): void {
    const { clock, maxWaitMs } = this.#options;
    const { blockage } = this.#lane;
    if (blockage === undefined) return;
    const blockedMs = clock.now() - blockage.since;
    if (blockedMs < maxWaitMs) return;
    if (error !== undefined && blockedMs < 1000) throw error;
    const { rejected, message } = blockage;
    const what = `none of ${formatCount(rejected, "request")} was accepted for ${toSeconds(blockedMs)}`;
    throw this.#tooMany(`${what}. The last one: ${message.replace(/^Cannot get an answer from [^:]*: /, "")}`, null);
  }

  /** Reports the wait of a call with so many before it, where that is news. */
  report(ahead: number, attempts: number): void {
    const now = this.#options.clock.now();
    const delayMs = Math.ceil(this.#lane.waitMs(ahead, now));
    // A timer may end less than a millisecond early: the rest of a wait that is over is none.
    if (delayMs <= 1) return;
    const expectedMs = this.#until - now;
    const slackMs = Math.max(MATERIAL_MS, Math.max(expectedMs, now - this.#since) / 2);
    if (this.#until !== -Infinity && delayMs <= expectedMs + slackMs) return;
    this.expect(delayMs);
    this.#callOptions.onPause?.({ delayMs, attempts });
  }

  /** The wait is reported otherwise. */
  expect(delayMs: number): void {
    const now = this.#options.clock.now();
    if (this.#until === -Infinity) this.#since = now;
    this.#until = now + delayMs;
  }

  #tooMany(what: string, retryAfterMs: number | null): BackendConnectionError {
    const backend = this.#backend;
    const why = `too many requests: ${what}`;
    return new BackendConnectionError({
      backend,
      fault: "rate-limit",
      why,
      status: 429,
      retryable: true,
      retryAfterMs,
    });
  }
}

function toSeconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
