// How many nodes of a run have a session at once.
//
// So many at each depth, and the others of that depth wait: a parent that waits for its children never keeps a place that they
// need, so however deep and wide a tree is, it gets done.

import { Semaphore } from "../../util/async/semaphore.ts";

export class Children {
  readonly #maxAtOnce: number;
  readonly #depths = new Map<number, Semaphore>();

  constructor(maxAtOnce: number) {
    this.#maxAtOnce = maxAtOnce;
  }

  /** Does the work when it is its turn. Rejects with the signal's reason when that is aborted before. */
  async enter<T>(depth: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const semaphore = this.#depths.get(depth) ?? new Semaphore(this.#maxAtOnce, Infinity);
    this.#depths.set(depth, semaphore);
    await semaphore.acquire(signal);
    try {
      return await work();
    } finally {
      semaphore.release();
    }
  }
}
