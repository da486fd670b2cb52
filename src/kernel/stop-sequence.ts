// Stops running code in three steps: an interrupt, a second one after half of the grace time, a kill after all of it.

import type { StopReason } from "./outcome.ts";

export interface StopSteps {
  interrupt(): void;
  /** The code may have swallowed the first interrupt. */
  interruptAgain(): void;
  kill(): void;
}

export class StopSequence {
  readonly reason: StopReason;
  #timer: NodeJS.Timeout;

  constructor(reason: StopReason, graceMs: number, steps: StopSteps) {
    this.reason = reason;
    steps.interrupt();
    this.#timer = setTimeout(() => {
      steps.interruptAgain();
      this.#timer = setTimeout(() => steps.kill(), graceMs / 2);
    }, graceMs / 2);
  }

  /** The code has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
