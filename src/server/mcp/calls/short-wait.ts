// One timer for all calls that start before it fires. Nearly all work ends within a few milliseconds: a timer and an abort listener per
// call would cost more than the work itself.

const SHORT_MS = 20;

export class ShortWait {
  readonly #waiters = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  /** True: it has ended. False: the time is over. */
  endsInTime(ended: Promise<unknown>): Promise<boolean> {
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#expire(), SHORT_MS);
    return new Promise((resolve) => {
      const onTimeout = (): void => resolve(false);
      this.#waiters.add(onTimeout);
      const onEnd = (): void => {
        this.#waiters.delete(onTimeout);
        resolve(true);
      };
      ended.then(onEnd, onEnd);
    });
  }

  #expire(): void {
    this.#timer = undefined;
    for (const onTimeout of this.#waiters) onTimeout();
    this.#waiters.clear();
  }
}
