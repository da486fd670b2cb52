// Idempotency keys: a request that is repeated with the same key returns what the first one started.

import { createHash } from "node:crypto";
import { ProblemError, type Problem } from "../net/problem.ts";

interface Entry {
  readonly fingerprint: string;
  readonly id: string | Promise<string>;
  readonly at: number;
}

export interface StartedOnce {
  readonly id: string | Promise<string>;
  readonly isRetry: boolean;
}

/** Keys are forgotten after a day, the oldest earlier when there are too many. */
const KEPT_MS = 86_400_000;
const MAX_KEYS = 10_000;
const FORM = /^[\x21-\x7E]{1,255}$/;

export class Idempotency {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * Returns the id of what was started under the key, or of what `start` starts now. When that fails the key is free again. Throws a
   * ProblemError when the key was used for another request. Null: there is no key.
   */
  once(key: string | null, scope: string, request: unknown, start: () => string | Promise<string>): StartedOnce {
    if (key === null) return { id: start(), isRetry: false };
    if (!FORM.test(key)) throw new ProblemError(INVALID_KEY);
    const name = `${scope} ${key}`;
    const fingerprint = createHash("sha256").update(JSON.stringify(request)).digest("base64");
    const known = this.#entries.get(name);
    if (known !== undefined && this.#now() - known.at < KEPT_MS) {
      if (known.fingerprint !== fingerprint) throw new ProblemError(KEY_REUSED);
      return { id: known.id, isRetry: true };
    }
    const id = start();
    this.#keep(name, { fingerprint, id, at: this.#now() });
    if (id instanceof Promise) id.catch(() => this.#entries.delete(name));
    return { id, isRetry: false };
  }

  #keep(name: string, entry: Entry): void {
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    for (const [oldest, { at }] of this.#entries) {
      if (this.#entries.size <= MAX_KEYS && entry.at - at < KEPT_MS) break;
      this.#entries.delete(oldest);
    }
  }
}

const INVALID_KEY: Problem = {
  status: 422,
  code: "INVALID_KEY",
  detail: "The Idempotency-Key must be 1 to 255 visible ASCII characters without spaces",
};
const KEY_REUSED: Problem = {
  status: 422,
  code: "KEY_REUSED",
  detail: "The Idempotency-Key was used for another request: use a new key for each request",
};
