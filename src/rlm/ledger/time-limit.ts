// The time of a node that got only so much: its work ends with a share of it left, in which it can finish.

import { PausableTimer } from "../../util/async/pausable-timer.ts";
import type { NodeId } from "../../protocol/runs.ts";
import { toLimit } from "./limit-reached.ts";

/** What is kept for the end, of every limit. */
export const FINISHING_SHARE = 0.1;

export class TimeLimit {
  readonly #work = new AbortController();
  readonly #finishing = new AbortController();
  readonly #timers: readonly PausableTimer[];

  /** Starts at once; `stop` must be called. */
  constructor(ownerId: NodeId, wallMs: number) {
    const workMs = wallMs * (1 - FINISHING_SHARE);
    this.#timers = [
      new PausableTimer(workMs, () => this.#work.abort(toLimit("wallMs", ownerId, workMs, wallMs))),
      new PausableTimer(wallMs, () => this.#finishing.abort(new Error("the time is over"))),
    ];
  }

  /** Aborted, with a LimitReached, when the work has to end. */
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
