// Tickets for WebSockets of browsers, which cannot send a token. Each is valid for one use within half a minute, so a ticket that leaks
// into a log is worthless.

import { randomBytes } from "node:crypto";
import { LimitExceededError } from "../../../errors.ts";
import { digest } from "./guard.ts";

interface Issued {
  readonly expiresAt: number;
  /** Undefined: any session. */
  readonly sessionId: string | undefined;
}

export interface Ticket {
  readonly ticket: string;
  readonly expiresAt: number;
}

const VALID_MS = 30_000;
const MAX_TICKETS = 1000;
const BYTES = 32;

export class Tickets {
  /** By digest, the oldest first. The lookup takes as long whichever part of a ticket was guessed. */
  readonly #issued = new Map<string, Issued>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Throws LimitExceededError while too many are unused. */
  issue(sessionId?: string): Ticket {
    const now = this.#now();
    for (const [oldest, { expiresAt: until }] of this.#issued) {
      if (until > now) break;
      this.#issued.delete(oldest);
    }
    if (this.#issued.size >= MAX_TICKETS) {
      throw new LimitExceededError({ what: "give another ticket", limit: "tickets", value: MAX_TICKETS });
    }
    const ticket = randomBytes(BYTES).toString("base64url");
    const expiresAt = now + VALID_MS;
    this.#issued.set(toKey(ticket), { expiresAt, sessionId });
    return { ticket, expiresAt };
  }

  /** Whether the ticket is valid for the session. It is used up either way. */
  take(ticket: string, sessionId: string): boolean {
    const key = toKey(ticket);
    const found = this.#issued.get(key);
    if (found === undefined) return false;
    this.#issued.delete(key);
    return found.expiresAt > this.#now() && (found.sessionId ?? sessionId) === sessionId;
  }
}

function toKey(ticket: string): string {
  return digest(ticket).toString("base64");
}
