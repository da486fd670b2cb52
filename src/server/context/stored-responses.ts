// Responses to requests with an Idempotency-Key that act once: a repeated request gets the stored response, and does nothing again.
//
// They are kept in memory for a day, within limits on their number and size. A request that failed did nothing, so its key is free again.

import type { BodyDigest } from "../net/bodies/body-digest.ts";
import { ProblemError, type Problem } from "../net/problem.ts";
import { checkKey, KEY_REUSED } from "./idempotency.ts";

/** The body of a request that its handler reads as a stream. */
export interface DigestedBody {
  /** From now on, what is read is counted and digested. */
  startDigest(): void;
  /** Of what was read. Null: nothing was. */
  readonly digest: BodyDigest | null;
  /** Reads the body in place of a handler. Throws the problem for one that is larger. */
  readDigest(maxBytes: number, tooLarge: Problem): Promise<BodyDigest | null>;
}

interface Stored {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | null;
  readonly body: BodyDigest | null;
}

interface Entry {
  readonly target: string;
  readonly at: number;
  /** Undefined: it failed. */
  readonly done: Promise<Stored | undefined>;
  bytes: number;
}

const KEPT_MS = 86_400_000;
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
const KEPT_HEADERS = ["content-type", "location"];

export class StoredResponses {
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  #bytes = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** `target`: everything that makes it the same request, except a streamed body. Throws a ProblemError for a reused key. */
  async once(
    key: string,
    target: string,
    body: DigestedBody,
    respond: () => Response | Promise<Response>,
  ): Promise<Response> {
    checkKey(key);
    for (let known = this.#find(key); known !== undefined; known = this.#find(key)) {
      if (known.target !== target) throw new ProblemError(KEY_REUSED);
      const stored = await known.done;
      if (stored === undefined) continue;
      await checkSame(stored, body);
      return toResponse(stored, { "idempotency-replayed": "true" });
    }
    return this.#first(key, target, body, respond);
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#now() - entry.at < KEPT_MS ? entry : undefined;
  }

  async #first(
    key: string,
    target: string,
    body: DigestedBody,
    respond: () => Response | Promise<Response>,
  ): Promise<Response> {
    let finish: (stored: Stored | undefined) => void = () => {};
    const done = new Promise<Stored | undefined>((resolve) => (finish = resolve));
    const entry: Entry = { target, at: this.#now(), done, bytes: key.length + target.length };
    this.#keep(key, entry);
    body.startDigest();
    try {
      const stored = await store(await respond(), () => body.digest);
      if (stored.status >= 400) this.#drop(key, entry);
      else this.#grow(entry, stored.text?.length ?? 0);
      finish(stored.status >= 400 ? undefined : stored);
      return toResponse(stored);
    } catch (error) {
      this.#drop(key, entry);
      finish(undefined);
      throw error;
    }
  }

  #keep(key: string, entry: Entry): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#drop(key, before);
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    this.#grow(entry, 0);
  }

  #grow(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.#bytes += bytes;
    for (const [oldest, old] of this.#entries) {
      const isTooMuch = this.#entries.size > MAX_ENTRIES || (this.#bytes > MAX_BYTES && this.#entries.size > 1);
      if (!isTooMuch && this.#now() - old.at < KEPT_MS) break;
      this.#drop(oldest, old);
    }
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

async function store(response: Response, digest: () => BodyDigest | null): Promise<Stored> {
  const text = response.body === null ? null : await response.text();
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { status: response.status, headers: Object.fromEntries(headers), text, body: digest() };
}

function toResponse({ status, headers, text }: Stored, more: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, { status, headers: { ...headers, ...more } });
}

/** Where the handler did not read the body, it does not matter. Throws a ProblemError. */
async function checkSame({ body: before }: Stored, body: DigestedBody): Promise<void> {
  if (before === null) return;
  const now = await body.readDigest(before.bytes, KEY_REUSED);
  if (now?.bytes !== before.bytes || now.sha256 !== before.sha256) throw new ProblemError(KEY_REUSED);
}
