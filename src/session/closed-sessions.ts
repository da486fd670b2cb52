// Sessions that were closed a short while ago, so that a late request learns what became of its session.

import type { SessionInfo } from "../protocol/sessions.ts";

export interface ClosedSession {
  readonly why: string;
  /** When it was opened. */
  readonly createdAt: string;
  /** Its final statistics. */
  readonly info: Promise<SessionInfo>;
}

interface Closing {
  readonly id: string;
  readonly createdAt: string;
  close(): Promise<SessionInfo>;
}

const MAX_KEPT = 1000;
const KEPT_MS = 3_600_000;

export class ClosedSessions {
  /** In the order in which they were closed. */
  readonly #byId = new Map<string, ClosedSession & { readonly at: number }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Undefined: there was none, or it was closed too long ago. A session of the same id may be live. */
  get(id: string): ClosedSession | undefined {
    const closed = this.#byId.get(id);
    return closed !== undefined && this.#now() - closed.at < KEPT_MS ? closed : undefined;
  }

  /** Called when the session begins to close. */
  add(session: Closing, why: string): void {
    const at = this.#now();
    // Not at once: this is part of its closing, which must not begin again.
    const info = Promise.resolve().then(() => session.close());
    info.catch(() => {});
    this.#byId.delete(session.id);
    this.#byId.set(session.id, { why, createdAt: session.createdAt, info, at });
    for (const [oldest, closed] of this.#byId) {
      if (this.#byId.size <= MAX_KEPT && at - closed.at < KEPT_MS) break;
      this.#byId.delete(oldest);
    }
  }

  /** For a session that nobody else knew. */
  forget(id: string): void {
    this.#byId.delete(id);
  }
}
