// Counts the users of a session, so that it does not expire while it is in use.

export class KeepAlive {
  #users = 0;
  #lastUsedAt = 0;

  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** When the last user left; now, while there is one. */
  get lastUsedAt(): number {
    return this.#users > 0 ? Date.now() : this.#lastUsedAt;
  }

  enter(): void {
    this.#users += 1;
  }

  leave(): void {
    this.#users -= 1;
    this.#lastUsedAt = Date.now();
  }

  /** In use until this is disposed. */
  hold(): Disposable {
    this.enter();
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.leave();
        isHeld = false;
      },
    };
  }
}
