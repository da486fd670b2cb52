// Those for whom a session is in use though nothing runs in it: somebody looks at it.

export class Holds {
  #count = 0;
  #lastUsedAt = 0;

  get lastUsedAt(): number {
    return this.#count > 0 ? Date.now() : this.#lastUsedAt;
  }

  take(): Disposable {
    this.#count += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#count -= 1;
        this.#lastUsedAt = Date.now();
      },
    };
  }
}
