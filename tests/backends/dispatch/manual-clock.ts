// A clock that advances only when a test moves it.

import type { Clock } from "../../../src/backends/dispatch/clock.ts";

export class ManualClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly listener: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, listener: () => void): () => void {
    const timer = { at: this.#now + ms, listener };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** When the timers that are set go off. */
  get due(): number[] {
    return this.#timers.map(({ at }) => at).sort((a, b) => a - b);
  }

  /** Lets everything that is ready happen, then goes on to `ms`, timer by timer. */
  async goTo(ms: number): Promise<void> {
    await settle();
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= ms).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.listener();
      await settle();
    }
    this.#now = Math.max(this.#now, ms);
  }
}

/** Time passes while code runs, and timers go off up to a millisecond early, as those of Node may. */
export class BusyClock extends ManualClock {
  #passed = 0;
  #seed = 1;

  override now(): number {
    this.#passed += 0.004;
    return super.now() + this.#passed;
  }

  override after(ms: number, listener: () => void): () => void {
    this.#seed = (this.#seed * 16_807) % 2_147_483_647;
    return super.after(Math.max(0, ms - this.#seed / 2_147_483_647), listener);
  }
}

/** Everything that only waits for promises is done. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => void setImmediate(resolve));
}
