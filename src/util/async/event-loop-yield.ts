// For whoever reads much that is there already: nothing else of this process has its turn while promises resolve one after the other, so a
// long stretch is cut by turns for everybody else.

const TURN_BYTES = 64 * 1024;

export class Turns {
  #bytes = 0;

  /** So much was done. */
  did(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Resolves when it may go on: at once where little was done. */
  async next(): Promise<void> {
    if (this.#bytes < TURN_BYTES) return;
    await new Promise((resolve) => void setImmediate(resolve));
    this.#bytes = 0;
  }
}
