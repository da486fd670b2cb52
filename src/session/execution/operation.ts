// A queue entry that is not an execution: a reset, a save, a rewind.

import { deferred } from "../../util/async/deferred.ts";
import { onAbort } from "../../util/async/on-abort.ts";

export class Operation<T = unknown> {
  readonly #result = deferred<T>();
  readonly result = this.#result.promise;
  readonly #work: () => Promise<T>;
  readonly #stopListening: () => void;
  #isRejected = false;

  /** Aborting the signal before it starts rejects it; it never runs then. */
  constructor(work: () => Promise<T>, signal?: AbortSignal) {
    this.#work = work;
    this.#stopListening = onAbort(signal, () => this.fail(signal?.reason));
  }

  /** Never rejects; `result` does. */
  async run(): Promise<void> {
    this.#stopListening();
    if (this.#isRejected) return;
    try {
      this.#result.resolve(await this.#work());
    } catch (error) {
      this.#result.reject(error as Error);
    }
  }

  /** Rejects it before it has started. */
  fail(error: unknown): void {
    this.#isRejected = true;
    this.#result.reject(error as Error);
  }
}
