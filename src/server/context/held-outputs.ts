// The output of executions whose session has ended: readable for as long as their results are kept, within limits.

import type { Execution } from "../../session/execution/execution.ts";

/** Larger output is in a file, and takes a descriptor. */
const LARGE_BYTES = 1024 * 1024;
const MAX_LARGE = 64;
const MAX_BYTES = 512 * 1024 * 1024;

export class HeldOutputs {
  /** Ended ones, the oldest first, with the size of their output. */
  readonly #ended = new Map<Execution, number>();
  readonly #running = new Set<Execution>();

  /** Must be called while it runs. */
  hold(execution: Execution): void {
    execution.printed.hold();
    this.#running.add(execution);
  }

  /** It has ended: from now on it counts. Ignored for one that is not held. */
  end(execution: Execution): void {
    if (!this.#running.delete(execution)) return;
    this.#ended.set(execution, execution.printed.readable);
    let total = 0;
    let large = 0;
    for (const bytes of this.#ended.values()) {
      total += bytes;
      if (bytes > LARGE_BYTES) large += 1;
    }
    for (const [oldest, bytes] of this.#ended) {
      if (total <= MAX_BYTES && large <= MAX_LARGE) break;
      if (oldest === execution || (total <= MAX_BYTES && bytes <= LARGE_BYTES)) continue;
      this.drop(oldest);
      total -= bytes;
      if (bytes > LARGE_BYTES) large -= 1;
    }
  }

  /** Ignored for one that is not held. */
  drop(execution: Execution): void {
    if (this.#ended.delete(execution)) execution.printed.close();
  }
}
