// The memory limit of all sessions together. Their files count, because they are in memory too.
//
// Nothing is measured while the whole machine uses less than the limit. Above it, new sessions are refused. When the environment reports
// that free memory shrinks, the active session that uses most must free memory.

import { freemem, totalmem } from "node:os";
import { LimitExceededError } from "../../errors.ts";
import type { Session } from "../session.ts";

/** Above this share of the limit idle sessions must free memory, too. */
const URGENT = 1.1;
const REFRESH_MS = 250;

export class TotalMemory {
  readonly #limitBytes: number;
  readonly #sessions: () => readonly Session[];
  #isChecking = false;
  /** By the whole machine. */
  #usedBytes = 0;
  #nextRefresh = 0;

  constructor(limitBytes: number, sessions: () => readonly Session[]) {
    this.#limitBytes = limitBytes;
    this.#sessions = sessions;
  }

  /** Throws LimitExceededError when there is not enough memory for another session. */
  async admit(what: string): Promise<void> {
    if (this.#isPlenty()) return;
    const taken = await this.#measure();
    if (sum(taken) < this.#limitBytes) return;
    throw new LimitExceededError({ what, limit: "totalMemoryBytes", value: this.#limitBytes });
  }

  /** Frees memory if the sessions exceed the limit. */
  async check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      await this.#enforce();
    } finally {
      this.#isChecking = false;
    }
  }

  async #enforce(): Promise<void> {
    if (this.#isPlenty()) return;
    const taken = await this.#measure();
    const total = sum(taken);
    if (total <= this.#limitBytes) return;
    // Idle sessions do not grow. Their state is worth exceeding the limit a little, but not risking the machine.
    const isUrgent = total > this.#limitBytes * URGENT;
    const suspects = taken.filter(({ session }) => isUrgent || session.isActive);
    suspects.toSorted((a, b) => b.bytes - a.bytes)[0]?.session.freeMemory();
  }

  /** Sessions cannot use more than the whole machine does. Cached: a system call takes half as long as opening a session. */
  #isPlenty(): boolean {
    const now = performance.now();
    if (now >= this.#nextRefresh) {
      this.#usedBytes = totalmem() - freemem();
      this.#nextRefresh = now + REFRESH_MS;
    }
    return this.#usedBytes < this.#limitBytes;
  }

  #measure(): Promise<Taken[]> {
    return Promise.all(
      this.#sessions().map(async (session) => {
        const usage = await session.usage();
        return { session, bytes: usage === null ? 0 : usage.memoryBytes + usage.diskBytes };
      }),
    );
  }
}

interface Taken {
  readonly session: Session;
  readonly bytes: number;
}

function sum(taken: readonly Taken[]): number {
  return taken.reduce((total, { bytes }) => total + bytes, 0);
}
