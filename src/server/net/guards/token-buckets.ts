// How often each of many may do something: a bucket of tokens for each, refilled as time goes by.
//
// The table is bounded. When it is full the one that was made first goes, which gives at most one burst more to whoever that was.

export interface Rate {
  readonly perSecond: number;
  /** That may come at once. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  /** When that was. */
  at: number;
}

const MAX_BUCKETS = 10_000;

export class Rates {
  readonly #rate: Rate;
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxBuckets: number;
  readonly #now: () => number;

  constructor(rate: Rate, now: () => number = () => performance.now(), maxBuckets = MAX_BUCKETS) {
    this.#rate = rate;
    this.#now = now;
    this.#maxBuckets = maxBuckets;
  }

  /** Takes one. 0: it was there; else nothing was taken, and the seconds until there is one. */
  take(key: string): number {
    const bucket = this.#refilled(key);
    if (bucket.tokens < 1) return this.#secondsUntilNext(bucket);
    bucket.tokens -= 1;
    return 0;
  }

  /** How many are known. */
  get size(): number {
    return this.#buckets.size;
  }

  #secondsUntilNext({ tokens }: Bucket): number {
    return (1 - tokens) / this.#rate.perSecond;
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
