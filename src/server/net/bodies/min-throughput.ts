// Minimum throughput of a transfer. A client that moves a byte now and then would otherwise occupy a slot that others wait for, for
// days. Only time in which the client has to act counts.

export interface ThroughputLimit {
  readonly bytes: number;
  readonly windowMs: number;
}

/** About a kilobyte per second: the worst telephone lines have several. */
export const DEFAULT_MIN_THROUGHPUT: ThroughputLimit = { bytes: 64 * 1024, windowMs: 60_000 };

export class MinThroughput {
  readonly #limit: ThroughputLimit;
  readonly #onStall: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #leftMs: number;
  #movedBytes = 0;

  /** `onStall`: called once, when the client is too slow. */
  constructor(onStall: () => void, limit: ThroughputLimit) {
    this.#limit = limit;
    this.#onStall = onStall;
    this.#leftMs = limit.windowMs;
  }

  /** The client has to send, until `received` is called. */
  expectData(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onStall, this.#leftMs);
  }

  received(bytes: number): void {
    this.stop();
    this.#movedBytes += bytes;
    if (this.#movedBytes >= this.#limit.bytes) this.#restart(0);
  }

  /** The client has to read this many bytes, until `stop` is called. */
  expectRead(bytes: number): void {
    this.#restart(bytes);
    this.expectData();
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }

  #restart(bytes: number): void {
    this.#movedBytes = 0;
    this.#leftMs = this.#limit.windowMs * Math.max(1, bytes / this.#limit.bytes);
  }
}
