// What a provider says about its limits, in the terms of no provider.

/** What is left of a limit on requests or tokens. */
export interface Quota {
  /** What may be used before the limit is reached. */
  readonly remaining: number;
  /** What may be used when nothing is used up. Absent: not known. */
  readonly limit?: number;
  /** When all of it is back, in milliseconds. Absent: not known. */
  readonly resetMs?: number;
  /** How it comes back: a little at a time, as in a token bucket, or all of it at the reset. */
  readonly refill: "gradual" | "at-reset";
}

/** What a provider says about its limits. Absent: nothing. */
export interface RateLimits {
  /** Requests. */
  readonly requests?: Quota;
  /** Tokens of input and output together. */
  readonly tokens?: Quota;
  /** Tokens of input. */
  readonly inputTokens?: Quota;
  /** Tokens of output. */
  readonly outputTokens?: Quota;
}
