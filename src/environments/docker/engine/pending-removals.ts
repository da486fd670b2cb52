// Containers that could not be removed, as while the engine was down. Nobody else removes them while this process lives.

const MOST = 1000;

export class PendingRemovals {
  readonly #ids = new Set<string>();
  #retrying: Promise<boolean> | undefined;

  get size(): number {
    return this.#ids.size;
  }

  add(id: string): void {
    if (this.#ids.size < MOST) this.#ids.add(id);
  }

  delete(id: string): void {
    this.#ids.delete(id);
  }

  /**
   * Tries all of them again, one after the other, so that other requests go before. `remove` resolves to whether it is gone, and rejects if
   * the engine does not answer. Resolves to whether it answered. Never rejects.
   */
  retry(remove: (id: string) => Promise<boolean>): Promise<boolean> {
    this.#retrying ??= this.#retryAll(remove).finally(() => (this.#retrying = undefined));
    return this.#retrying;
  }

  async #retryAll(remove: (id: string) => Promise<boolean>): Promise<boolean> {
    for (const id of this.#ids) {
      const isGone = await remove(id).catch(() => undefined);
      if (isGone === undefined) return false; // the others wait, too
      if (isGone) this.#ids.delete(id);
    }
    return true;
  }
}
