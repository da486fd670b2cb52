// Identical calls that are made at the same time share one answer.

import { BackendConnectionError } from "../../errors.ts";
import { orAborted } from "../../util/async/or-aborted.ts";

export class SingleFlight<T> {
  readonly #inFlight = new Map<string, Promise<T>>();

  /**
   * Does the work, or waits for a call with the same key. An error of the backend is shared; limits and signals are those of the
   * caller that came first, so after such an error the next caller does the work.
   */
  async run(
    key: string,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<{ readonly value: T; readonly isShared: boolean }> {
    for (let other = this.#inFlight.get(key); other !== undefined; other = this.#inFlight.get(key)) {
      const value = await orAborted(other.catch(ignoreUnlessBackend), signal);
      if (value !== undefined) return { value, isShared: true };
    }
    const own = work();
    this.#inFlight.set(key, own);
    try {
      return { value: await own, isShared: false };
    } finally {
      this.#inFlight.delete(key);
    }
  }
}

function ignoreUnlessBackend(error: unknown): undefined {
  if (error instanceof BackendConnectionError) throw error;
}
