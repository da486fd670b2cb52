// All sessions together may take so much of the machine's memory, their files included, which are in memory too.
//
// Nothing is measured while the whole machine uses less than that. A new session is refused when too much is taken. When
// the environment says that the machine's memory shrinks, and it is us, the session that runs and takes most gives up
// its checkpoints, then its worker.

import { freemem, totalmem } from "node:os";
import { LimitExceededError } from "../../errors.ts";
import type { Session } from "../session.ts";

const URGENT = 1.1;
const ASK_AGAIN_MS = 250;

export class TotalMemory {
  readonly #limitBytes: number;
  readonly #sessions: () => readonly Session[];
  #isLooking = false;
  /** By everybody on this machine. */
  #usedBytes = 0;
  #nextAsk = 0;

  constructor(limitBytes: number, sessions: () => readonly Session[]) {
    this.#limitBytes = limitBytes;
    this.#sessions = sessions;
  }

  /** Throws LimitExceededError when there is no room for another session. */
  async admit(what: string): Promise<void> {
    if (this.#isPlenty()) return;
    const taken = await this.#measure();
    if (sum(taken) < this.#limitBytes) return;
    throw new LimitExceededError({ what, limit: "totalMemoryBytes", value: this.#limitBytes });
  }

  /** The machine has less memory than before: is it us? One look at a time. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#look();
    } finally {
      this.#isLooking = false;
    }
  }

  async #look(): Promise<void> {
    if (this.#isPlenty()) return;
    const taken = await this.#measure();
    const total = sum(taken);
    if (total <= this.#limitBytes) return;
    // What does not run does not grow: its state is worth a little more than the limit, not the machine.
    const isUrgent = total > this.#limitBytes * URGENT;
    const suspects = taken.filter(({ session }) => isUrgent || session.isActive);
    suspects.toSorted((a, b) => b.bytes - a.bytes)[0]?.session.relieve();
  }

  /** Sessions cannot have taken more than everybody has. Asking the kernel costs as much as half an opening. */
  #isPlenty(): boolean {
    const now = performance.now();
    if (now >= this.#nextAsk) {
      this.#usedBytes = totalmem() - freemem();
      this.#nextAsk = now + ASK_AGAIN_MS;
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
