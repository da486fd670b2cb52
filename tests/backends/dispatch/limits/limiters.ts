// Limits as providers have them, on a clock that tests move, and a backend behind one of them.

import type { Backend, BackendRequest, StreamPart } from "../../../../src/backends/backend.ts";
import type { CallOutcome, CallPause } from "../../../../src/backends/dispatch/call.ts";
import type { Clock } from "../../../../src/backends/dispatch/clock.ts";
import { Dispatcher, type DispatcherOptions } from "../../../../src/backends/dispatch/dispatcher.ts";
import type { RateLimits } from "../../../../src/backends/rate-limits.ts";
import { BackendConnectionError } from "../../../../src/errors.ts";
import { aRequest } from "../../describe-backend.ts";
import { ManualClock } from "../manual-clock.ts";

/** How a provider rounds the time until the next request in its Retry-After; `none`: it sends none, `1 s`: always one second. */
export type RetryAfter = "exact" | "seconds" | "1 s" | "none";

export interface Limiter {
  /** Undefined: accepted. */
  admit(now: number, inFlight: number): { readonly retryAfterMs: number | null; readonly status?: number } | undefined;
  /** The least time in which so many requests are accepted, without their own. */
  idealMs(requests: number): number;
  /** What its headers say. */
  headers?(now: number): RateLimits;
}

export function tokenBucket(perSecond: number, burst: number, retryAfter: RetryAfter): Limiter {
  let tokens = burst;
  let filledAt = 0;
  return {
    admit(now) {
      tokens = Math.min(burst, tokens + ((now - filledAt) * perSecond) / 1000);
      filledAt = now;
      if (tokens < 0.999_999) return reject(((1 - tokens) / perSecond) * 1000, retryAfter);
      tokens -= 1;
      return undefined;
    },
    idealMs: (requests) => (1000 * (requests - burst)) / perSecond,
    headers: () => {
      const remaining = Math.floor(tokens);
      return {
        requests: { remaining, limit: burst, resetMs: ((burst - remaining) / perSecond) * 1000, refill: "gradual" },
      };
    },
  };
}

/** Counts in windows that begin at the same times for all. The first one began `beganMs` ago. */
export function fixedWindow(limit: number, windowMs: number, beganMs: number, retryAfter: RetryAfter): Limiter {
  let current = -1;
  let used = 0;
  return {
    admit(now) {
      const window = Math.floor((now + beganMs) / windowMs);
      if (window !== current) used = 0;
      current = window;
      if (used >= limit) return reject((window + 1) * windowMs - beganMs - now, retryAfter);
      used += 1;
      return undefined;
    },
    idealMs: (requests) => (Math.ceil(requests / limit) - 1) * windowMs - beganMs,
    headers: (now) => {
      const resetMs = (current + 1) * windowMs - beganMs - now;
      return { requests: { remaining: limit - used, limit, resetMs, refill: "at-reset" } };
    },
  };
}

/** No more than so many in any such time. */
export function slidingWindow(limit: number, windowMs: number, retryAfter: RetryAfter): Limiter {
  const accepted: number[] = [];
  return {
    admit(now) {
      while ((accepted[0] ?? Infinity) <= now - windowMs) accepted.shift();
      if (accepted.length >= limit) return reject((accepted[0] ?? now) + windowMs - now, retryAfter);
      accepted.push(now);
      return undefined;
    },
    idealMs: (requests) => (Math.ceil(requests / limit) - 1) * windowMs,
  };
}

export function concurrency(limit: number, retryAfter: RetryAfter, latencyMs: number): Limiter {
  return {
    admit: (_, inFlight) => (inFlight < limit ? undefined : reject(1000, retryAfter)),
    idealMs: (requests) => (Math.ceil(requests / limit) - 1) * latencyMs,
  };
}

/** So many a second from each time on, in a bucket for ten. */
export function changing(steps: readonly (readonly [number, number])[]): Pick<Limiter, "admit"> {
  let tokens = 10;
  let filledAt = 0;
  return {
    admit(now) {
      const perSecond = steps.findLast(([from]) => from <= now)?.[1] ?? 1;
      tokens = Math.min(10, tokens + ((now - filledAt) * perSecond) / 1000);
      filledAt = now;
      if (tokens < 1) return reject(((1 - tokens) / perSecond) * 1000, "seconds");
      tokens -= 1;
      return undefined;
    },
  };
}

/** Answers 529 until then. */
export function overloaded(untilMs: number, retryAfter: RetryAfter): Limiter {
  return {
    admit: (now) => (now >= untilMs ? undefined : { ...reject(1000, retryAfter), status: 529 }),
    idealMs: () => untilMs,
  };
}

function reject(ms: number, retryAfter: RetryAfter): { readonly retryAfterMs: number | null } {
  switch (retryAfter) {
    case "none":
      return { retryAfterMs: null };
    case "1 s":
      return { retryAfterMs: 1000 };
    case "exact":
      return { retryAfterMs: Math.ceil(ms) };
    case "seconds":
      return { retryAfterMs: 1000 * Math.max(1, Math.ceil(ms / 1000)) };
  }
}

export interface LimitedOptions {
  readonly limiter: Limiter;
  readonly clock: Clock;
  /** How long an accepted request takes. Default: 0. */
  readonly latencyMs?: number;
  /** How much of that passes before the response starts. Default: 0. */
  readonly silenceMs?: number;
  readonly sendsHeaders?: boolean;
}

/** Behind a network that takes 20 ms. */
export class LimitedBackend implements Backend {
  readonly name = "limited";
  readonly sharesSignals = true;
  readonly #options: LimitedOptions;
  #inFlight = 0;
  accepted = 0;
  rejected = 0;

  constructor(options: LimitedOptions) {
    this.#options = options;
  }

  async *stream(_: BackendRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    const { limiter, clock, latencyMs = 0, silenceMs = 0, sendsHeaders = false } = this.#options;
    await pass(10, clock);
    const rejection = limiter.admit(clock.now(), this.#inFlight);
    if (rejection !== undefined) {
      this.rejected += 1;
      await pass(10, clock);
      const { retryAfterMs, status = 429 } = rejection;
      const fault = status === 429 ? "rate-limit" : "server";
      throw new BackendConnectionError({ backend: this.name, fault, why: "no", status, retryable: true, retryAfterMs });
    }
    this.accepted += 1;
    this.#inFlight += 1;
    try {
      const rateLimits = sendsHeaders ? limiter.headers?.(clock.now()) : undefined;
      await pass(10 + silenceMs, clock);
      yield { type: "response-start", ...(rateLimits !== undefined && { rateLimits }) };
      if (latencyMs > silenceMs) await pass(latencyMs - silenceMs, clock);
      signal.throwIfAborted();
      yield { type: "text-delta", text: "answer" };
    } finally {
      this.#inFlight -= 1;
    }
    yield { type: "end", finishReason: "stop", usage: null };
  }
}

async function pass(ms: number, clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => void clock.after(ms, resolve));
}

export interface BatchResult {
  readonly outcomes: readonly CallOutcome[];
  readonly answers: number;
  /** Until the last call ended. */
  readonly ms: number;
  /** That, compared with the least time that the limiter allows. */
  readonly ratio: number;
  readonly rejected: number;
  readonly pauses: readonly CallPause[];
  readonly mostInFlight: number;
}

/** Makes so many calls at once. */
export async function runBatch(
  calls: number,
  { limiter, ...backendOptions }: Omit<LimitedOptions, "clock">,
  { clock = new ManualClock(), ...options }: Omit<DispatcherOptions, "clock"> & { readonly clock?: ManualClock } = {},
): Promise<BatchResult> {
  let seed = 1;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const dispatcher = new Dispatcher({ clock, random, ...options });
  const backend = new LimitedBackend({ limiter, clock, ...backendOptions });
  const pauses: CallPause[] = [];
  let ms = 0;
  let mostInFlight = 0;
  const { signal } = new AbortController();
  const onPause = (pause: CallPause): void => void pauses.push(pause);
  const made = Array.from({ length: calls }, async () => {
    const outcome = await dispatcher.call(backend, aRequest(), {
      signal,
      onPause,
      onPart: () => void (mostInFlight = Math.max(mostInFlight, dispatcher.inFlight)),
    });
    ms = clock.now();
    return outcome;
  });
  await clock.goTo(10_000_000);
  const outcomes = await Promise.all(made);
  const answers = outcomes.filter(({ ok }) => ok).length;
  const ratio = ms / (limiter.idealMs(calls) + (backendOptions.latencyMs ?? 0) + 20);
  return { outcomes, answers, ms, ratio, rejected: backend.rejected, pauses, mostInFlight };
}
