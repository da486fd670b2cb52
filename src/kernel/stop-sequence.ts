// From a request to an end: an interrupt, another one after half of the grace time, and after all of it no more asking.

import type { StopReason } from "./outcome.ts";

export interface StoppingSteps {
  interrupt(): void;
  /** Half of the grace time is over: once more, in case the code swallowed the first one. */
  insist(reason: StopReason): void;
  kill(reason: StopReason): void;
}

export class Stopping {
  readonly reason: StopReason;
  #timer: NodeJS.Timeout;

  constructor(reason: StopReason, graceMs: number, steps: StoppingSteps) {
    this.reason = reason;
    steps.interrupt();
    this.#timer = setTimeout(() => {
      steps.insist(reason);
      this.#timer = setTimeout(() => steps.kill(reason), graceMs / 2);
    }, graceMs / 2);
  }

  /** What was to be stopped has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
