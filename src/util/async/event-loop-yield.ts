// Yields to the event loop now and then. A loop over data that is already there awaits only settled promises, which starves all other
// work of the process.

const YIELD_AFTER_BYTES = 64 * 1024;

export class EventLoopYield {
  #bytes = 0;

  /** Counts work that was done. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Lets other work run if enough was done since the last time. */
  async yieldIfDue(): Promise<void> {
    if (this.#bytes < YIELD_AFTER_BYTES) return;
    await new Promise((resolve) => void setImmediate(resolve));
    this.#bytes = 0;
  }
}
