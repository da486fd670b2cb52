// Counts work in progress, and keeps the process alive while there is any.
//
// Pipes and processes of sessions are unreferenced handles, so Node does not wait for them. One timer stands for all work instead: it is
// referenced while the count is above zero. Counting is cheap enough for every execution.

const LONG_MS = 2 ** 31 - 1;

export class ActiveWork {
  #count = 0;
  /** Does nothing when it fires. Created with the first work. */
  #timer: NodeJS.Timeout | undefined;

  enter(): void {
    this.#count += 1;
    if (this.#count > 1) return;
    if (this.#timer === undefined) this.#timer = setInterval(() => {}, LONG_MS);
    else this.#timer.ref();
  }

  leave(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#timer?.unref();
  }

  /** Does the work and counts it until it has settled. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Removes the timer. Call it when no more work is expected; later work creates another. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
