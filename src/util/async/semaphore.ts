// So many at once; the others wait, first come first served, up to a bound.

import { onAbort } from "./on-abort.ts";

export class Slots {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get taken(): number {
    return this.#taken;
  }

  /** False: too many wait already. Otherwise whoever took it gives it back. Rejects when the signal is aborted before. */
  async take(signal: AbortSignal | undefined): Promise<boolean> {
    signal?.throwIfAborted();
    if (this.#taken < this.#limit) {
      this.#taken += 1;
      return true;
    }
    if (this.#waiting.length >= this.#maxWaiting) return false;
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason as Error);
      };
      const enter = (): void => {
        stopListening();
        resolve();
      };
      const stopListening = onAbort(signal, leave);
      this.#waiting.push(enter);
    });
    return true;
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next(); // it goes from hand to hand
  }
}
