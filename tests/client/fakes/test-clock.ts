// Time for tests: pauses between attempts are over at once, and silence lasts as long as the test says.

import type { Clock } from "../../../src/client/net/clock.ts";

/** As long as the silence after which a connection is broken, or as the interval of pings. */
const SILENCE_MS = 15_000;

export class TestClock implements Clock {
  /** Every pause, in milliseconds. */
  readonly pauses: number[] = [];
  readonly #silences = new Set<() => void>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  /** The longest pauses. */
  random(): number {
    return 1;
  }

  start(ms: number, callback: () => void): () => void {
    if (ms >= SILENCE_MS) {
      this.#silences.add(callback);
      return () => void this.#silences.delete(callback);
    }
    this.pauses.push(ms);
    const timer = setImmediate(() => {
      this.#now += ms;
      callback();
    });
    return () => clearImmediate(timer);
  }

  /** Whether something waits for a sign of life. */
  get isWaiting(): boolean {
    return this.#silences.size > 0;
  }

  /** Nothing was heard for long. */
  passSilence(): void {
    const all = [...this.#silences];
    this.#silences.clear();
    this.#now += 60_000;
    for (const callback of all) callback();
  }
}
