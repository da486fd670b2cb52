// Connections to a server that were lost: whether another one is worth trying, and when.

import { setTimeout as delay } from "node:timers/promises";
import { printError } from "../cli/io/print-error.ts";
import { ServerProblem } from "./problem.ts";

/** In a row, each after a longer pause. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 250;
/** Refusals that another attempt may not meet. */
const PASSING: ReadonlySet<number> = new Set([429, 503]);

export class Losses {
  #inARow = 0;

  /** Something was heard: the next loss is a first one. */
  forget(): void {
    this.#inARow = 0;
  }

  /** Resolves when it is time to try again. Throws the error where that is of no use, or was tried too often. */
  async wait(error: unknown, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (error instanceof ServerProblem && !PASSING.has(error.status)) throw error;
    if (this.#inARow === MAX_ATTEMPTS) throw error;
    if (this.#inARow === 0) printError("the connection is lost: trying to go on where it was");
    await delay(PAUSE_MS * this.#inARow, undefined, signal && { signal });
    this.#inARow += 1;
  }
}
