// Limits how many nodes of a run have a session at once.
//
// Each depth has a semaphore of its own: a parent that waits for its children never holds a slot that they need, so a tree of any
// depth and width completes.

import { Semaphore } from "../../util/async/semaphore.ts";

export class Concurrency {
  readonly #maxPerDepth: number;
  readonly #depths = new Map<number, Semaphore>();

  constructor(maxPerDepth: number) {
    this.#maxPerDepth = maxPerDepth;
  }

  /** Rejects with the signal's reason when that is aborted while it waits. */
  async run<T>(depth: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const semaphore = this.#depths.get(depth) ?? new Semaphore(this.#maxPerDepth, Infinity);
    this.#depths.set(depth, semaphore);
    await semaphore.acquire(signal);
    try {
      return await work();
    } finally {
      semaphore.release();
    }
  }
}
