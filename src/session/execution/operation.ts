// A queue entry that is not an execution: a reset, a save, a rewind.

import { onAbort } from "../../util/async/on-abort.ts";

export class Operation<T = unknown> {
  readonly result: Promise<T>;
  readonly #work: () => Promise<T>;
  readonly #stopListening: () => void;
  #isRejected = false;
  #resolve!: (value: T) => void;
  #reject!: (error: unknown) => void;

  /** Aborting the signal before it starts rejects it; it never runs then. */
  constructor(work: () => Promise<T>, signal?: AbortSignal) {
    this.#work = work;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stopListening = onAbort(signal, () => this.fail(signal?.reason));
  }

  /** Never rejects; `result` does. */
  async run(): Promise<void> {
    this.#stopListening();
    if (this.#isRejected) return;
    try {
      this.#resolve(await this.#work());
    } catch (error) {
      this.#reject(error);
    }
  }

  /** Rejects it before it has started. */
  fail(error: unknown): void {
    this.#isRejected = true;
    this.#reject(error);
  }
}
