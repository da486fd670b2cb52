// A timer that fires once; time spent paused does not count.

const MAX_TIMER_MS = 2 ** 31 - 1;

export class PausableTimer {
  readonly #onEnd: () => void;
  #leftMs: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(ms: number, onEnd: () => void) {
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.resume();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs -= performance.now() - this.#since;
  }

  resume(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(0, this.#leftMs), MAX_TIMER_MS));
  }

  /** It will not fire any more. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Limits may be longer than the longest timer of Node. */
  #fire(): void {
    this.pause();
    if (this.#leftMs >= 1) this.resume();
    else this.#onEnd();
  }
}
