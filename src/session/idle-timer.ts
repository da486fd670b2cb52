// Fires once after a time without use. It checks the time of the last use when its timer fires, so that use itself costs nothing.

const MAX_TIMER_MS = 2 ** 31 - 1;

export class IdleTimer {
  readonly #limitMs: number;
  /** When it was last in use: now, while it still is. */
  readonly #lastUsedAt: () => number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, lastUsedAt: () => number, onIdle: () => void) {
    this.#limitMs = limitMs;
    this.#lastUsedAt = lastUsedAt;
    this.#onIdle = onIdle;
    this.#check();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #check(): void {
    const leftMs = this.#limitMs - (Date.now() - this.#lastUsedAt());
    if (leftMs <= 0) this.#onIdle();
    else this.#timer = setTimeout(() => this.#check(), Math.min(leftMs, MAX_TIMER_MS)).unref();
  }
}
