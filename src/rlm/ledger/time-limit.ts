// The time limit of a run or of a grant: work ends early enough to leave a share of the time for finishing.

import type { Clock } from "../../backends/dispatch/clock.ts";
import type { NodeId } from "../../protocol/runs.ts";
import { toExhausted } from "./limit-reached.ts";

/** The share of every limit that is kept for finishing. */
export const FINISHING_SHARE = 0.1;

export class TimeLimit {
  readonly #work = new AbortController();
  readonly #finishing = new AbortController();
  readonly #cancelTimers: readonly (() => void)[];

  /** Starts at once; `stop` must be called. */
  constructor(ownerId: NodeId, wallMs: number, clock: Clock) {
    const workMs = wallMs * (1 - FINISHING_SHARE);
    this.#cancelTimers = [
      clock.after(workMs, () => this.#work.abort(toExhausted("wallMs", ownerId, workMs, wallMs))),
      clock.after(wallMs, () => this.#finishing.abort(new Error("the time is over"))),
    ];
  }

  /** Aborted with a LimitReached when the work has to end. */
  get work(): AbortSignal {
    return this.#work.signal;
  }

  get finishing(): AbortSignal {
    return this.#finishing.signal;
  }

  stop(): void {
    for (const cancel of this.#cancelTimers) cancel();
  }
}
