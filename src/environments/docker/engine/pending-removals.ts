// Containers that could not be removed, as while the engine was down. Nobody else removes them while this process lives.

const MOST = 1000;

export class PendingRemovals {
  readonly #ids = new Set<string>();
  #retrying: Promise<void> | undefined;

  get size(): number {
    return this.#ids.size;
  }

  add(id: string): void {
    if (this.#ids.size < MOST) this.#ids.add(id);
  }

  delete(id: string): void {
    this.#ids.delete(id);
  }

  /** Tries all of them again, one after the other, so that other requests go before. `remove` resolves to whether it is gone. Never rejects. */
  retry(remove: (id: string) => Promise<boolean>): Promise<void> {
    this.#retrying ??= this.#retryAll(remove).finally(() => (this.#retrying = undefined));
    return this.#retrying;
  }

  async #retryAll(remove: (id: string) => Promise<boolean>): Promise<void> {
    for (const id of this.#ids) {
      const isGone = await remove(id).catch(() => undefined);
      if (isGone === undefined) return; // the engine does not answer: the others wait, too
      if (isGone) this.#ids.delete(id);
    }
  }
}
