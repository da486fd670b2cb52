// A token bucket: requests at a steady rate, and a few at once after a rest.

/** Timers may be late by this much. A bucket that could not make up for it would lose throughput at high rates. */
const TIMER_MS = 10;
/** The longest that tokens are saved up in order to be given all at once. */
const MAX_SAVING_MS = 2_000;

export class TokenBucket {
  #rate = Infinity;
  #burst = 1;
  #savesUp = false;
  #tokens = 0;
  #filledAt = 0;

  /** Tokens per millisecond. Infinity: no limit. */
  get rate(): number {
    return this.#rate;
  }

  setRate(rate: number, now: number): void {
    this.#fill(now);
    this.#rate = rate;
  }

  /** How many tokens it holds at most. */
  get burst(): number {
    return this.#burst;
  }

  /** Whether an empty bucket gives nothing until it is full, which suits a provider that counts requests in windows of time. */
  get savesUp(): boolean {
    return this.#savesUp;
  }

  setBurst(burst: number, { savesUp }: { readonly savesUp: boolean }): void {
    this.#burst = Math.max(1, burst);
    this.#savesUp = savesUp;
  }

  /** Milliseconds that an empty bucket takes to fill up. */
  get fillMs(): number {
    return this.#capacity / this.#rate;
  }

  /** Milliseconds until there is a token. */
  delayMs(now: number): number {
    if (this.#rate === Infinity) return 0;
    this.#fill(now);
    if (this.#tokens >= 1) return 0;
    const saved = this.#savesUp ? Math.max(1, Math.floor(Math.min(this.#burst, this.#rate * MAX_SAVING_MS))) : 1;
    return (saved - this.#tokens) / this.#rate;
  }

  /** Takes a token. True: it was the last one. */
  take(now: number): boolean {
    if (this.#rate === Infinity) return false;
    this.#fill(now);
    this.#tokens -= 1;
    return this.#tokens < 1;
  }

  drain(now: number): void {
    this.#filledAt = now;
    this.#tokens = Math.min(this.#tokens, 0);
  }

  get #capacity(): number {
    return Math.max(this.#burst, this.#rate * TIMER_MS);
  }

  #fill(now: number): void {
    if (this.#rate !== Infinity) {
      const added = Math.max(0, now - this.#filledAt) * this.#rate;
      this.#tokens = Math.min(this.#capacity, this.#tokens + added);
    }
    this.#filledAt = now;
  }
}
