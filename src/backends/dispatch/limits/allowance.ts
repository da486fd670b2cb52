// What a provider says is left of its limits, in requests: nothing is sent that it has announced to reject.

import type { Quota, RateLimits } from "../../rate-limits.ts";

/** Headers hold requests back no longer than this: then one is sent, and decides whether they can be believed. */
const MAX_HOLD_MS = 60_000;

export class Allowance {
  /** Requests that may be sent. Infinity: the provider says nothing about it. */
  #left = Infinity;
  #knownAt = 0;
  /** Requests that come back per millisecond. 0: all at once, at the reset. */
  #refill = 0;
  #resetAt = Infinity;
  #limit = Infinity;
  #isHeld = false;
  #isBelieved = true;

  /** Milliseconds until a request may be sent. */
  delayMs(now: number): number {
    const left = this.#leftAt(now);
    if (left >= 1 || !this.#isBelieved) return 0;
    const refillMs = this.#refill > 0 ? (1 - left) / this.#refill : this.#resetAt - now;
    return Math.max(0, Math.min(refillMs, this.#knownAt + MAX_HOLD_MS - now));
  }

  send(now: number): void {
    const left = this.#leftAt(now);
    this.#isHeld = left < 0.5;
    this.#left = left - 1;
    this.#knownAt = now;
  }

  /** From the response to a request with so many tokens, while so many others were sent and not answered. */
  learn(
    limits: RateLimits,
    { tokens, pending }: { readonly tokens: number; readonly pending: number },
    now: number,
  ): void {
    // It was to be rejected, and was not.
    if (this.#isHeld) this.#isBelieved = false;
    this.#isHeld = false;
    const quotas = [
      toRequests(limits.requests, 1),
      toRequests(limits.tokens, tokens),
      toRequests(limits.inputTokens, tokens),
      toRequests(limits.outputTokens, 1),
    ].filter((quota) => quota !== undefined);
    const [scarcest] = quotas.toSorted((a, b) => a.remaining - b.remaining);
    if (scarcest === undefined) return;
    const { remaining, limit = Infinity, resetMs, refill } = scarcest;
    this.#left = remaining - pending;
    this.#knownAt = now;
    this.#limit = limit;
    const isGradual = refill === "gradual" && limit !== Infinity && resetMs !== undefined && resetMs > 0;
    this.#refill = isGradual ? Math.max(0, limit - remaining) / resetMs : 0;
    this.#resetAt = now + (resetMs ?? 0);
  }

  #leftAt(now: number): number {
    if (this.#left === Infinity) return Infinity;
    if (this.#refill > 0) return Math.min(this.#limit, this.#left + (now - this.#knownAt) * this.#refill);
    return now >= this.#resetAt ? Infinity : this.#left;
  }
}

/** A limit of 0 is how some say that there is none. */
function toRequests(quota: Quota | undefined, size: number): Quota | undefined {
  if (quota === undefined || quota.limit === 0) return undefined;
  const { remaining, limit, ...others } = quota;
  const perRequest = Math.max(1, size);
  return { ...others, remaining: remaining / perRequest, ...(limit !== undefined && { limit: limit / perRequest }) };
}
