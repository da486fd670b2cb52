// Who of a run spent what, and who waits for something to be given back.

import type { NodeId, RunUsage, Spent } from "../../protocol/runs.ts";
import { COUNTED, type Amounts, type BoundOptions } from "./limit.ts";
import { type Charge, Tally } from "./usage-totals.ts";

/** Somebody who waits until others give something back. */
interface Waiting {
  /** True: it waits no more. */
  readonly attempt: () => boolean;
  readonly amounts: Amounts;
  /** The same for all who wait for the same limits to have room. */
  readonly line: object;
}

/** Those of one line who want the same, in the order in which they came. */
interface Queue {
  readonly line: object;
  /** The amounts as a text. */
  readonly key: string;
  readonly amounts: Amounts;
  /** With a count of those who came before, of all queues. */
  readonly waiting: Map<Waiting, number>;
}

export class Books {
  readonly boundOptions: BoundOptions;
  readonly #total = new Tally();
  readonly #byModel = new Map<string, Tally>();
  readonly #byNode = new Map<NodeId, Tally>();
  readonly #queues = new Map<object, Map<string, Queue>>();
  #came = 0;

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
    const { line, amounts } = waiting;
    const key = COUNTED.map((axis) => amounts[axis] ?? 0).join(" ");
    const queues = this.#queues.get(line) ?? new Map<string, Queue>();
    const queue = queues.get(key) ?? { line, key, amounts, waiting: new Map<Waiting, number>() };
    queue.waiting.set(waiting, this.#came++);
    this.#queues.set(line, queues.set(key, queue));
    return { stop: () => this.#leave(queue, waiting) };
  }

  /** In the order in which they came. Behind one that does not fit, those in its line that want no less are not asked. */
  wake(): void {
    if (this.#queues.size === 0) return;
    let queues = Array.from(this.#queues.values(), (ofLine) => [...ofLine.values()]).flat();
    for (let first = firstOf(queues); first !== undefined; first = firstOf(queues)) {
      const { line, amounts } = first.queue;
      if (first.waiting.attempt()) this.#leave(first.queue, first.waiting);
      else {
        queues = queues.filter((queue) => queue.line !== line || !isAtLeast(queue.amounts, amounts));
      }
    }
  }

  #leave(queue: Queue, waiting: Waiting): void {
    if (!queue.waiting.delete(waiting) || queue.waiting.size > 0) return;
    const queues = this.#queues.get(queue.line);
    queues?.delete(queue.key);
    if (queues?.size === 0) this.#queues.delete(queue.line);
  }

  usage(): Omit<RunUsage, "wallMs"> {
    return { total: this.#total.toSpent(), byModel: toRecord(this.#byModel), byNode: toRecord(this.#byNode) };
  }
}

/** Who has waited longest. */
function firstOf(queues: readonly Queue[]): { readonly queue: Queue; readonly waiting: Waiting } | undefined {
  let first: { readonly queue: Queue; readonly waiting: Waiting } | undefined;
  let least = Infinity;
  for (const queue of queues) {
    const [waiting, came] = queue.waiting.entries().next().value ?? [];
    if (waiting === undefined || came === undefined || came >= least) continue;
    first = { queue, waiting };
    least = came;
  }
  return first;
}

function isAtLeast(a: Amounts, b: Amounts): boolean {
  return COUNTED.every((axis) => (a[axis] ?? 0) >= (b[axis] ?? 0));
}

function toRecord(tallies: ReadonlyMap<string, Tally>): Record<string, Spent> {
  return Object.fromEntries(Array.from(tallies, ([key, tally]) => [key, tally.toSpent()]));
}
