// Limits on concurrent requests in total, and on the request rate of each address. Wrong tokens have a lower rate limit.
//
// Requests without a valid token are counted separately: other processes on the machine share their user's address, and must not be able
// to lock out the owner of the token.
//
// The address is that of the socket. Behind a proxy all clients share the proxy's, so the proxy has to limit each of them.

import type { Problem } from "../problem.ts";
import { TokenBuckets, type RateLimit } from "./token-buckets.ts";

export interface ServerLimits {
  /** Being read or answered. Responses that only stream do not count, and light routes have a reserve. */
  readonly requests: number;
  /** Of requests, per address. */
  readonly rate: RateLimit;
  /** Of wrong tokens, per address. */
  readonly failures: RateLimit;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  requests: 1000,
  rate: { perSecond: 5000, burst: 10_000 },
  failures: { perSecond: 10, burst: 50 },
};

/** Reserve for light routes, which may end what the others wait for. */
const RESERVE = 100;

export class RequestLimiter {
  readonly #requests: number;
  readonly #authorized: TokenBuckets;
  readonly #unauthorized: TokenBuckets;
  readonly #guesses: TokenBuckets;
  #active = 0;

  constructor(limits: Partial<ServerLimits> = {}, now?: () => number) {
    const { requests, rate, failures } = { ...DEFAULT_SERVER_LIMITS, ...limits };
    this.#requests = requests;
    this.#authorized = new TokenBuckets(rate, now);
    this.#unauthorized = new TokenBuckets(rate, now);
    this.#guesses = new TokenBuckets(failures, now);
  }

  /** For a valid token. Undefined: admitted; call `leave` when it is answered. */
  enter(address: string): Problem | undefined {
    const seconds = this.#authorized.take(toKey(address));
    if (seconds > 0) return tooFast(seconds);
    if (this.#active >= this.#requests + RESERVE) return tooMany(this.#requests);
    this.#active += 1;
    return undefined;
  }

  /** For an admitted request, unless its route is light. Undefined: there is capacity. */
  checkLoad(): Problem | undefined {
    return this.#active > this.#requests ? tooMany(this.#requests) : undefined;
  }

  leave(): void {
    this.#active -= 1;
  }

  /** Without a valid token: `problem`, or the limit that was exceeded. `isGuess`: a wrong token was sent. */
  refuse(address: string, problem: Problem, isGuess: boolean): Problem {
    const key = toKey(address);
    const seconds = this.#unauthorized.take(key);
    if (seconds > 0) return tooFast(seconds);
    const guessSeconds = isGuess ? this.#guesses.take(key) : 0;
    return guessSeconds > 0 ? tooManyGuesses(guessSeconds) : problem;
  }
}

/** A host has a whole /64 of IPv6 addresses. */
function toKey(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:(?<v4>\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.groups?.["v4"];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length);
  return [...groups, ...Array.from({ length: missing }, () => "0"), ...after].slice(0, 4).join(":");
}

function tooFast(seconds: number): Problem {
  const detail = "Too many requests in a second from this address";
  return { status: 429, code: "RATE_LIMITED", detail, headers: retryAfter(seconds) };
}

function tooManyGuesses(seconds: number): Problem {
  const detail = "Too many wrong tokens from this address: wait before the next one";
  return { status: 429, code: "TOO_MANY_WRONG_TOKENS", detail, headers: retryAfter(seconds) };
}

function tooMany(requests: number): Problem {
  const detail = `The server is busy with ${requests} requests already`;
  return { status: 503, code: "OVERLOADED", detail, headers: retryAfter(1) };
}

/** In whole seconds, rounded up. */
function retryAfter(seconds: number): Readonly<Record<string, string>> {
  return { "retry-after": String(Math.max(1, Math.ceil(seconds))) };
}
