// Counting semaphore with a bounded FIFO queue.

import { onAbort } from "./on-abort.ts";

export class Semaphore {
  readonly #permits: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #held = 0;

  constructor(permits: number, maxWaiting: number) {
    this.#permits = permits;
    this.#maxWaiting = maxWaiting;
  }

  /** How many permits are in use. */
  get held(): number {
    return this.#held;
  }

  /** Resolves to false when the queue is full. Rejects with the signal's reason when it is aborted before a permit is free. */
  async acquire(signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    if (this.#held < this.#permits) {
      this.#held += 1;
      return true;
    }
    if (this.#waiting.length >= this.#maxWaiting) return false;
    await new Promise<void>((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason as Error);
      });
      const enter = (): void => {
        stopListening();
        resolve();
      };
      this.#waiting.push(enter);
    });
    return true;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#held -= 1;
    else next(); // the permit passes on without being freed
  }
}
