// Requests that are sent again: under one Idempotency-Key something begins once, and whoever asks again is given the same.

import { createHash } from "node:crypto";
import { ProblemError, type Problem } from "../net/problem.ts";

/** For the description of routes that take one. */
export const IDEMPOTENCY_KEY = {
  "idempotency-key":
    "1 to 255 visible characters: asked again with the same key, what began goes on and nothing begins twice",
};

interface Begun {
  readonly fingerprint: string;
  readonly id: string | Promise<string>;
  readonly at: number;
}

export interface Once {
  readonly id: string | Promise<string>;
  readonly isRetry: boolean;
}

/** Forgotten after a day, and the oldest where there are more. */
const KEPT_MS = 86_400_000;
const MAX_KEYS = 10_000;
const FORM = /^[\x21-\x7E]{1,255}$/;

export class Retries {
  readonly #begun = new Map<string, Begun>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * The id of what began under the key, or of what `begin` begins now; where that fails the key is free again. Throws a ProblemError
   * where the key was used for something else. Null: there is no key.
   */
  once(key: string | null, place: string, asked: unknown, begin: () => string | Promise<string>): Once {
    if (key === null) return { id: begin(), isRetry: false };
    if (!FORM.test(key)) throw new ProblemError(WRONG_KEY);
    const name = `${place} ${key}`;
    const fingerprint = createHash("sha256").update(JSON.stringify(asked)).digest("base64");
    const known = this.#begun.get(name);
    if (known !== undefined && this.#now() - known.at < KEPT_MS) {
      if (known.fingerprint !== fingerprint) throw new ProblemError(OTHER_REQUEST);
      return { id: known.id, isRetry: true };
    }
    const id = begin();
    this.#keep(name, { fingerprint, id, at: this.#now() });
    if (id instanceof Promise) id.catch(() => this.#begun.delete(name));
    return { id, isRetry: false };
  }

  #keep(name: string, begun: Begun): void {
    this.#begun.delete(name);
    this.#begun.set(name, begun);
    for (const [oldest, { at }] of this.#begun) {
      if (this.#begun.size <= MAX_KEYS && begun.at - at < KEPT_MS) break;
      this.#begun.delete(oldest);
    }
  }
}

const WRONG_KEY: Problem = {
  status: 422,
  code: "INVALID_KEY",
  detail: "The Idempotency-Key must be 1 to 255 visible ASCII characters without spaces",
};
const OTHER_REQUEST: Problem = {
  status: 422,
  code: "KEY_REUSED",
  detail: "The Idempotency-Key was used for another request: take a new one for each thing that is to happen",
};
