// Idempotency keys, and ids that clients choose: a request that is repeated with the same one returns what the first one started.

import { createHash } from "node:crypto";
import { IdReusedError } from "../../errors.ts";
import { ProblemError, type Problem } from "../net/problem.ts";

interface Entry {
  readonly fingerprint: string;
  readonly id: string | Promise<string>;
  readonly at: number;
}

export interface StartedOnce {
  readonly id: string | Promise<string>;
  readonly isRetry: boolean;
  /** It was started before the server restarted. */
  readonly isEarlier?: true;
}

/** Remembers starts across restarts. */
export interface Journal {
  earlier(name: string): { readonly fingerprint: string; readonly id: string | null } | undefined;
  begin(name: string, fingerprint: string, id: string | null): void;
  end(name: string, id: string): void;
  cancel(name: string): void;
}

interface OnceOptions {
  /** Whether it is remembered across restarts. `recorded`: its result is, too. Default: false. */
  readonly isLasting?: boolean | "recorded";
}

/** Keys are forgotten after a day, the oldest earlier when there are too many. */
const KEPT_MS = 86_400_000;
const MAX_KEYS = 50_000;
const FORM = /^[\x21-\x7E]{1,255}$/;

type Start = () => string | Promise<string>;

interface Once extends OnceOptions {
  readonly name: string;
  readonly request: unknown;
  readonly reused: () => Error;
  /** Where it is known before the start. */
  readonly chosen: string | null;
}

export class Idempotency {
  readonly #entries = new Map<string, Entry>();
  readonly #journal: Journal | undefined;
  readonly #now: () => number;

  constructor(journal?: Journal, now: () => number = Date.now) {
    this.#journal = journal;
    this.#now = now;
  }

  /**
   * Returns the id of what was started under the key, or of what `start` starts now. When that fails the key is free again. Throws a
   * ProblemError when the key was used for another request, or for one whose outcome a restart has lost. Null: there is no key.
   */
  once(key: string | null, scope: string, request: unknown, start: Start, options: OnceOptions = {}): StartedOnce {
    if (key === null) return { id: start(), isRetry: false };
    checkKey(key);
    const reused = (): Error => new ProblemError(KEY_REUSED);
    return this.#once({ name: `key ${scope} ${key}`, request, reused, chosen: null, ...options }, start);
  }

  /** The same for an id that the client chose, which is unique among things of its kind. Throws IdReusedError. Undefined: there is none. */
  onceAs(
    id: string | undefined,
    kind: "execution" | "task" | "run",
    request: unknown,
    start: Start,
    options: OnceOptions = {},
  ): StartedOnce {
    if (id === undefined) return { id: start(), isRetry: false };
    const reused = (): Error => new IdReusedError({ id, kind });
    return this.#once({ name: `id ${kind} ${id}`, request, reused, chosen: id, ...options }, start);
  }

  #once({ name, request, reused, chosen, isLasting = false }: Once, start: Start): StartedOnce {
    const fingerprint = createHash("sha256").update(JSON.stringify(request, inOrder)).digest("base64");
    const known = this.#entries.get(name);
    if (known !== undefined && this.#now() - known.at < KEPT_MS) {
      if (known.fingerprint !== fingerprint) throw reused();
      return { id: known.id, isRetry: true };
    }
    const earlier = this.#journal?.earlier(name);
    if (earlier !== undefined) {
      if (earlier.fingerprint !== fingerprint) throw reused();
      if (isLasting !== "recorded" || earlier.id === null) throw new ProblemError(OUTCOME_LOST);
      return { id: earlier.id, isRetry: true, isEarlier: true };
    }
    const id = this.#start(name, fingerprint, chosen, isLasting === false ? undefined : this.#journal, start);
    this.#keep(name, { fingerprint, id, at: this.#now() });
    if (id instanceof Promise) id.catch(() => this.#entries.delete(name));
    return { id, isRetry: false };
  }

  /** Written before the start: a start that the journal does not know could run twice. */
  #start(
    name: string,
    fingerprint: string,
    chosen: string | null,
    journal: Journal | undefined,
    start: Start,
  ): string | Promise<string> {
    if (journal === undefined) return start();
    journal.begin(name, fingerprint, chosen);
    try {
      const id = start();
      if (typeof id === "string") journal.end(name, id);
      else
        id.then(
          (started) => journal.end(name, started),
          () => journal.cancel(name),
        );
      return id;
    } catch (error) {
      journal.cancel(name);
      throw error;
    }
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

/** The order of the fields of an object means nothing. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Throws a ProblemError. */
export function checkKey(key: string): void {
  if (!FORM.test(key)) throw new ProblemError(INVALID_KEY);
}

const INVALID_KEY: Problem = {
  status: 422,
  code: "INVALID_KEY",
  detail: "The Idempotency-Key must be 1 to 255 visible ASCII characters without spaces",
};
export const KEY_REUSED: Problem = {
  status: 422,
  code: "KEY_REUSED",
  detail: "The Idempotency-Key was used for another request: use a new key for each request",
};
export const OUTCOME_LOST: Problem = {
  status: 410,
  code: "OUTCOME_LOST",
  detail: "It was started before the server restarted; its result is not kept",
};
