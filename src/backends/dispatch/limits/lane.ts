// One model of one backend: when the next request to it may be sent.
//
// What holds requests back: a Retry-After, which pauses the lane; the number in flight; the pace; what the provider says is left of its
// limits. All rejections of one burst are one event, and what it says is decided when the pause after it is over. Where nothing passes
// any more, one request at a time is sent, at growing intervals, until one is accepted.

import type { RateLimits } from "../../rate-limits.ts";
import { Allowance } from "./allowance.ts";
import { Pace, type PacedRequest } from "./pace.ts";
import { ConcurrencyWindow } from "./concurrency-window.ts";

export interface LaneOptions {
  readonly maxConcurrency: number;
  /** The first pause where the provider names none. */
  readonly firstDelayMs: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** A request that was sent. */
export interface LaneRequest extends PacedRequest {
  /** It probes whether more may be in flight. */
  readonly isProbe: boolean;
  /** How many requests had ended when it was sent. */
  readonly ended: number;
  isAnswered: boolean;
}

/** A limit of the provider turned the request away. */
export interface Rejection {
  readonly retryAfterMs: number | null;
  /** The provider is overloaded, whatever we do: nothing is to be learned about its limits. */
  readonly isOverload: boolean;
  /** In the provider's words. */
  readonly message: string;
}

/** Nothing was accepted since. */
export interface Blockage {
  readonly since: number;
  /** How many requests were rejected, and why the last one was. */
  readonly rejected: number;
  readonly message: string;
}

const MAX_PAUSE_MS = 8_000;
const FORGET_MS = 60_000;

export class Lane {
  readonly #options: LaneOptions;
  readonly #pace = new Pace();
  readonly #window: ConcurrencyWindow;
  readonly #allowance = new Allowance();
  #inFlight = 0;
  #ended = 0;
  /** In flight, and neither accepted nor rejected. */
  #unanswered = 0;
  #pausedUntil = -Infinity;
  /** The part of the pause that the provider asked for. */
  #askedUntil = -Infinity;
  #isSlower = false;
  #rejectedAt = -Infinity;
  /** What the last rejection says, until the pause after it is over. */
  #pending: "limit" | "overload" | undefined;
  /** Pauses in a row after which everything was rejected again. */
  #failures = 0;
  #blockage: Blockage | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#window = new ConcurrencyWindow(options.maxConcurrency);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Undefined: the last answer was no rejection, or something in flight may still be accepted. */
  get blockage(): Blockage | undefined {
    return this.#inFlight === 0 ? this.#blockage : undefined;
  }

  /** How much longer the provider asked to wait, in milliseconds. */
  askedMs(now: number): number {
    return Math.max(0, this.#askedUntil - now);
  }

  /** Whether requests became slower since this was asked last. */
  takeSlowdown(): boolean {
    const isSlower = this.#isSlower;
    this.#isSlower = false;
    return isSlower;
  }

  /** Milliseconds until the next request may be sent. Infinity: not before one in flight ends. */
  delayMs(now: number): number {
    if (this.#pausedUntil <= now && this.#pending !== undefined) this.#resume(this.#pending);
    if (this.#pausedUntil > now) return this.#pausedUntil - now;
    const delayMs = Math.max(this.#pace.delayMs(now), this.#allowance.delayMs(now));
    return Math.max(this.#window.delayMs(this.#inFlight, now), delayMs);
  }

  /** About how long a request waits for limits of the provider, with so many before it. 0: there are none, as far as is known. */
  waitMs(ahead: number, now: number): number {
    const delayMs = Math.max(this.#pausedUntil - now, this.#pace.delayMs(now), this.#allowance.delayMs(now));
    return delayMs + ahead / this.#pace.rate;
  }

  send(now: number): LaneRequest {
    if (this.#isForgotten(now)) this.#blockage = undefined;
    const isProbe = this.#window.isProbe(this.#inFlight);
    const isSpaced = this.#pace.send(now) && this.#failures === 0;
    this.#allowance.send(now);
    this.#inFlight += 1;
    this.#unanswered += 1;
    if (this.#failures > 0) this.#backOff(now);
    return { sentAt: now, isSpaced, isProbe, ended: this.#ended, isAnswered: false };
  }

  /** `tokens`: of the request. True: the next one may be sent at another time than before. */
  accept(request: LaneRequest, limits: RateLimits | undefined, tokens: number, now: number): boolean {
    this.#answer(request);
    this.#blockage = undefined;
    const isRecovery = this.#failures > 0 && request.sentAt > this.#rejectedAt;
    if (isRecovery) {
      this.#failures = 0;
      this.#pausedUntil = now;
      this.#pace.restart(now);
    }
    const hasGrown = this.#window.accept(this.#inFlight, request.isProbe, request.ended === this.#ended);
    const hasChanged = this.#pace.accept(request, now);
    if (limits !== undefined) this.#allowance.learn(limits, { tokens, pending: this.#unanswered }, now);
    return isRecovery || hasGrown || hasChanged || limits !== undefined;
  }

  /** It is over. Call once, with why it was rejected if it was. */
  end(request: LaneRequest, rejection: Rejection | undefined, now: number): void {
    this.#inFlight -= 1;
    this.#ended += 1;
    const wasAccepted = request.isAnswered;
    this.#answer(request);
    if (rejection !== undefined) this.#reject(request, rejection, now);
    else if (!wasAccepted) this.#forget();
  }

  /** As the provider asked. A pause is never shortened. */
  pause(ms: number, now: number): void {
    this.#askedUntil = Math.max(this.#askedUntil, now + ms);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#askedUntil);
  }

  #answer(request: LaneRequest): void {
    if (!request.isAnswered) this.#unanswered -= 1;
    request.isAnswered = true;
  }

  /** The request failed for another reason, which says nothing about limits: the next one may find out. */
  #forget(): void {
    this.#pace.forget();
    if (this.#pending === undefined) this.#pausedUntil = this.#askedUntil;
  }

  #reject({ sentAt, isProbe }: LaneRequest, { retryAfterMs, isOverload, message }: Rejection, now: number): void {
    const { since = now, rejected = 0 } = this.#blockage ?? {};
    this.#blockage = { since, rejected: rejected + 1, message };
    const isSameBurst = sentAt <= this.#rejectedAt;
    if (isOverload) this.#pace.forget();
    else if (isSameBurst) this.#window.rejectAlso(this.#inFlight);
    else if (this.#window.reject(this.#inFlight, isProbe, now)) {
      this.#pace.forget();
      if (retryAfterMs !== null) this.pause(retryAfterMs, now);
      return;
    }
    if (!isOverload) this.#pace.reject(now);
    if (!isSameBurst) {
      this.#rejectedAt = now;
      this.#pending = isOverload ? "overload" : "limit";
    }
    if (retryAfterMs !== null) this.pause(retryAfterMs, now);
    else if (!isSameBurst) this.#backOff(now);
    this.#isSlower ||= !isSameBurst;
  }

  #resume(after: "limit" | "overload"): void {
    this.#pending = undefined;
    if (this.#pace.passed > 0) {
      this.#failures = 0;
      if (after === "limit") this.#pace.resume(this.#pausedUntil);
      this.#isSlower = true;
      return;
    }
    this.#failures += 1;
    this.#backOff(this.#rejectedAt);
  }

  #backOff(from: number): void {
    const { firstDelayMs, random } = this.#options;
    const ms = Math.min(MAX_PAUSE_MS, firstDelayMs * 2 ** this.#failures) * (0.5 + random() / 2);
    this.#pausedUntil = Math.max(this.#pausedUntil, from + ms);
  }

  /** Nothing was sent for a while after the pause, so nobody has waited since. */
  #isForgotten(now: number): boolean {
    return this.#inFlight === 0 && now - Math.max(this.#rejectedAt, this.#pausedUntil) > FORGET_MS;
  }
}
