// The time limit of a run or of a grant: work ends early enough to leave a share of the time for finishing.

import { PausableTimer } from "../../util/async/pausable-timer.ts";
import type { NodeId } from "../../protocol/runs.ts";
import { toExhausted } from "./limit-reached.ts";

/** The share of every limit that is kept for finishing. */
export const FINISHING_SHARE = 0.1;

export class TimeLimit {
  readonly #work = new AbortController();
  readonly #finishing = new AbortController();
  readonly #timers: readonly PausableTimer[];

  /** Starts at once; `stop` must be called. */
  constructor(ownerId: NodeId, wallMs: number) {
    const workMs = wallMs * (1 - FINISHING_SHARE);
    this.#timers = [
      new PausableTimer(workMs, () => this.#work.abort(toExhausted("wallMs", ownerId, workMs, wallMs))),
      new PausableTimer(wallMs, () => this.#finishing.abort(new Error("the time is over"))),
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
    for (const timer of this.#timers) timer.stop();
  }
}
