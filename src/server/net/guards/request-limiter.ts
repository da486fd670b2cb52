// How much may be asked: at once by all, and by each address in a second. Whoever guesses tokens is slowed down more.
//
// Those without the right token are counted apart: other processes of a machine have the same address as its user, and nothing that they
// send may keep out whoever has the token.
//
// An address is what the socket says. Behind a proxy all clients have the proxy's, so the proxy is the place to bound each of them.

import type { Problem } from "../problem.ts";
import { Rates, type Rate } from "./token-buckets.ts";

export interface ServerBounds {
  /** That are being read or answered, in all. What only streams by then does not count, and light ones have more. */
  readonly requests: number;
  /** Of requests, for each address. */
  readonly rate: Rate;
  /** Of wrong tokens, for each address. */
  readonly failures: Rate;
}

export const DEFAULT_BOUNDS: ServerBounds = {
  requests: 1000,
  rate: { perSecond: 5000, burst: 10_000 },
  failures: { perSecond: 10, burst: 50 },
};

/** So many more are let in, for those that end what the others wait for. */
const SPARE = 100;

export class Bounds {
  readonly #requests: number;
  readonly #asked: Rates;
  readonly #strange: Rates;
  readonly #failed: Rates;
  #underWay = 0;

  constructor(bounds: Partial<ServerBounds> = {}, now?: () => number) {
    const { requests, rate, failures } = { ...DEFAULT_BOUNDS, ...bounds };
    this.#requests = requests;
    this.#asked = new Rates(rate, now);
    this.#strange = new Rates(rate, now);
    this.#failed = new Rates(failures, now);
  }

  /** With the right token. Undefined: it may go on, and `leave` is called when it is answered. */
  enter(address: string): Problem | undefined {
    const seconds = this.#asked.take(toKey(address));
    if (seconds > 0) return tooFast(seconds);
    if (this.#underWay >= this.#requests + SPARE) return tooMany(this.#requests);
    this.#underWay += 1;
    return undefined;
  }

  /** Asked by a request that has entered, unless it is a light one. Undefined: it may go on. */
  checkRoom(): Problem | undefined {
    return this.#underWay > this.#requests ? tooMany(this.#requests) : undefined;
  }

  leave(): void {
    this.#underWay -= 1;
  }

  /** Without the right token: what it is told in place of `problem`, if anything. `isGuess`: it sent a wrong one. */
  refuse(address: string, problem: Problem, isGuess: boolean): Problem {
    const key = toKey(address);
    const seconds = this.#strange.take(key);
    if (seconds > 0) return tooFast(seconds);
    const guessSeconds = isGuess ? this.#failed.take(key) : 0;
    return guessSeconds > 0 ? tooManyGuesses(guessSeconds) : problem;
  }
}

/** Whoever has one address of IPv6 has the 2^64 beside it. */
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

/** In whole seconds, as the header wants it; never too early. */
function retryAfter(seconds: number): Readonly<Record<string, string>> {
  return { "retry-after": String(Math.max(1, Math.ceil(seconds))) };
}
