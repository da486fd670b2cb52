// Token buckets, one per key.
//
// Their number is limited. When there are too many, the oldest is dropped, which gives its key one more burst at most.

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was computed. */
  at: number;
}

const MAX_BUCKETS = 10_000;

export class TokenBuckets {
  readonly #rate: RateLimit;
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxBuckets: number;
  readonly #now: () => number;

  constructor(rate: RateLimit, now: () => number = () => performance.now(), maxBuckets = MAX_BUCKETS) {
    this.#rate = rate;
    this.#now = now;
    this.#maxBuckets = maxBuckets;
  }

  /** Takes a token. Returns 0, or the seconds until there is one. */
  take(key: string): number {
    const bucket = this.#refilled(key);
    if (bucket.tokens < 1) return (1 - bucket.tokens) / this.#rate.perSecond;
    bucket.tokens -= 1;
    return 0;
  }

  get size(): number {
    return this.#buckets.size;
  }

  #refilled(key: string): Bucket {
    const { perSecond, burst } = this.#rate;
    const now = this.#now();
    const known = this.#buckets.get(key);
    if (known !== undefined) {
      known.tokens = Math.min(burst, known.tokens + ((now - known.at) / 1000) * perSecond);
      known.at = now;
      return known;
    }
    const [oldest] = this.#buckets.size >= this.#maxBuckets ? this.#buckets.keys() : [];
    if (oldest !== undefined) this.#buckets.delete(oldest);
    const made = { tokens: burst, at: now };
    this.#buckets.set(key, made);
    return made;
  }
}
