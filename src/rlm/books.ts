// Who of a run spent what, and who waits for something to be given back.

import type { NodeId, RunUsage, Spent } from "../protocol/runs.ts";
import { COUNTED, type Amounts, type BoundOptions } from "./bound.ts";
import { type Charge, Tally } from "./tally.ts";

/** Somebody who waits until others give something back. */
interface Waiting {
  /** True: it waits no more. */
  readonly attempt: () => boolean;
  readonly amounts: Amounts;
  /** The same for all who wait for the same limits to have room. */
  readonly line: object;
}

export class Books {
  readonly boundOptions: BoundOptions;
  readonly #total = new Tally();
  readonly #byModel = new Map<string, Tally>();
  readonly #byNode = new Map<NodeId, Tally>();
  readonly #waiting = new Set<Waiting>();

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

  /** Attempted when something was given back, until `stop`. */
  wait(waiting: Waiting): { readonly stop: () => void } {
    this.#waiting.add(waiting);
    return { stop: () => this.#waiting.delete(waiting) };
  }

  /** In the order in which they came. Behind one that does not fit, those in its line that want no less are not asked. */
  wake(): void {
    if (this.#waiting.size === 0) return;
    const refused = new Map<object, Amounts>();
    for (const waiting of this.#waiting) {
      const least = refused.get(waiting.line);
      if (least !== undefined && isAtLeast(waiting.amounts, least)) continue;
      if (!waiting.attempt()) refused.set(waiting.line, waiting.amounts);
    }
  }

  usage(): Omit<RunUsage, "wallMs"> {
    return { total: this.#total.toSpent(), byModel: toRecord(this.#byModel), byNode: toRecord(this.#byNode) };
  }
}

function isAtLeast(a: Amounts, b: Amounts): boolean {
  return COUNTED.every((axis) => (a[axis] ?? 0) >= (b[axis] ?? 0));
}

function toRecord(tallies: ReadonlyMap<string, Tally>): Record<string, Spent> {
  return Object.fromEntries(Array.from(tallies, ([key, tally]) => [key, tally.toSpent()]));
}
