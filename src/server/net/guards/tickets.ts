// Tickets: what a browser, which cannot send a token with a WebSocket, shows in its place. Each is good for one use within half a minute,
// so that one that is found in a log opens nothing.

import { createHash, randomBytes } from "node:crypto";
import { LimitExceededError } from "../../../errors.ts";

interface Given {
  readonly expiresAt: number;
  /** The only session that it opens. Absent: any. */
  readonly sessionId: string | undefined;
}

export interface Ticket {
  readonly ticket: string;
  readonly expiresAt: number;
}

const GOOD_MS = 30_000;
const MAX_TICKETS = 1000;
const BYTES = 32;

export class Tickets {
  /** By digest, the oldest first: finding one takes as long whichever part of it was guessed. */
  readonly #given = new Map<string, Given>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Throws LimitExceededError while too many wait to be used. */
  give(sessionId?: string): Ticket {
    const now = this.#now();
    for (const [oldest, { expiresAt: until }] of this.#given) {
      if (until > now) break;
      this.#given.delete(oldest);
    }
    if (this.#given.size >= MAX_TICKETS) {
      throw new LimitExceededError({ what: "give another ticket", limit: "tickets", value: MAX_TICKETS });
    }
    const ticket = randomBytes(BYTES).toString("base64url");
    const expiresAt = now + GOOD_MS;
    this.#given.set(digest(ticket), { expiresAt, sessionId });
    return { ticket, expiresAt };
  }

  /** Whether it opens this session. It opens nothing any more afterwards, whatever the answer. */
  take(ticket: string, sessionId: string): boolean {
    const key = digest(ticket);
    const found = this.#given.get(key);
    if (found === undefined) return false;
    this.#given.delete(key);
    return found.expiresAt > this.#now() && (found.sessionId ?? sessionId) === sessionId;
  }
}

function digest(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64");
}
