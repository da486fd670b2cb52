// Calls once after a time without use. One timer that looks at the clock when it fires, so that use costs nothing.

const MAX_TIMER_MS = 2 ** 31 - 1;

export class IdleTimer {
  readonly #limitMs: number;
  /** When it was last in use: now, while it still is. */
  readonly #lastUse: () => number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, lastUse: () => number, onIdle: () => void) {
    this.#limitMs = limitMs;
    this.#lastUse = lastUse;
    this.#onIdle = onIdle;
    this.#look();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const leftMs = this.#limitMs - (Date.now() - this.#lastUse());
    if (leftMs <= 0) {
      this.#onIdle();
      return;
    }
    this.#timer = setTimeout(() => this.#look(), Math.min(leftMs, MAX_TIMER_MS));
    this.#timer.unref();
  }
}
