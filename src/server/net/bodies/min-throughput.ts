// How slow the other end of a transfer may be. Whoever sends or takes a byte now and then would otherwise keep, for days, a place that
// others wait for. Only time in which it is the other end's turn counts.

export interface PaceBounds {
  /** So many bytes at least … */
  readonly bytes: number;
  /** … in so much time. */
  readonly windowMs: number;
}

/** About a kilobyte in a second: a bad line of a telephone has several. */
export const DEFAULT_PACE: PaceBounds = { bytes: 64 * 1024, windowMs: 60_000 };

export class Pace implements Disposable {
  readonly #bounds: PaceBounds;
  readonly #onStall: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #leftMs: number;
  #movedBytes = 0;

  /** `onStall`: called once, where it is too slow. */
  constructor(onStall: () => void, bounds: PaceBounds) {
    this.#bounds = bounds;
    this.#onStall = onStall;
    this.#leftMs = bounds.windowMs;
  }

  /** It is its turn. */
  wait(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onStall, this.#leftMs);
  }

  /** So many bytes have come. */
  came(bytes: number): void {
    this.#stop();
    this.#movedBytes += bytes;
    if (this.#movedBytes >= this.#bounds.bytes) this.#begin(0);
  }

  /** So many bytes are there to be taken, and it is its turn until `taken`. */
  give(bytes: number): void {
    this.#begin(bytes);
    this.wait();
  }

  taken(): void {
    this.#stop();
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #begin(bytes: number): void {
    this.#movedBytes = 0;
    this.#leftMs = this.#bounds.windowMs * Math.max(1, bytes / this.#bounds.bytes);
  }

  #stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }
}
