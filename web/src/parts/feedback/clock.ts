// The time, for everything that shows how long ago something was: one timer, which runs only while somebody looks.

import { signal, type ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";

const TICK_MS = 1_000;

class Clock {
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #now = signal(Date.now(), {
    watched: () => {
      this.#now.value = Date.now();
      this.#timer = setInterval(() => void (this.#now.value = Date.now()), TICK_MS);
    },
    unwatched: () => clearInterval(this.#timer),
  });

  /** Milliseconds since the epoch, to the second. */
  get now(): ReadonlySignal<number> {
    return this.#now;
  }
}

export const ClockContext = createContext(new Clock());
