// Who of a run spent what, and who waits for something to be given back.

import type { NodeId, RunUsage, Spent } from "../protocol/runs.ts";
import type { BoundOptions } from "./bound.ts";
import { type Charge, Tally } from "./tally.ts";

/** So many in a row that must wait on. They go first when there is room, and there is when the calls under way have ended. */
const MAX_MISSES = 16;

export class Books {
  readonly boundOptions: BoundOptions;
  readonly #total = new Tally();
  readonly #byModel = new Map<string, Tally>();
  readonly #byNode = new Map<NodeId, Tally>();
  readonly #waiting = new Set<() => boolean>();

  constructor(boundOptions: BoundOptions) {
    this.boundOptions = boundOptions;
  }

  openNode(nodeId: NodeId): Tally {
    if (this.#byNode.has(nodeId)) throw new RangeError(`Cannot open an account for node '${nodeId}': it has one`);
    const tally = new Tally();
    this.#byNode.set(nodeId, tally);
    return tally;
  }

  add(charge: Charge, model?: string): void {
    this.#total.add(charge);
    if (model === undefined) return;
    const tally = this.#byModel.get(model) ?? new Tally();
    this.#byModel.set(model, tally.add(charge));
  }

  /** Called when something was given back, until `stop`. False: it still does not fit. */
  wait(retry: () => boolean): { readonly stop: () => void } {
    this.#waiting.add(retry);
    return { stop: () => this.#waiting.delete(retry) };
  }

  /** In the order in which they came. Where the first ones do not fit the rest is not tried: thousands may wait. */
  wake(): void {
    let misses = 0;
    for (const retry of this.#waiting) {
      if (retry()) misses = 0;
      else if (++misses >= MAX_MISSES) return;
    }
  }

  usage(): Omit<RunUsage, "wallMs"> {
    return { total: this.#total.toSpent(), byModel: toRecord(this.#byModel), byNode: toRecord(this.#byNode) };
  }
}

function toRecord(tallies: ReadonlyMap<string, Tally>): Record<string, Spent> {
  return Object.fromEntries(Array.from(tallies, ([key, tally]) => [key, tally.toSpent()]));
}
