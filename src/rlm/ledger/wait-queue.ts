// Reservations that wait until calls in flight give something back. Served in order of arrival, except that one that does not fit
// yet blocks only those in its group that want at least as much.

import { LIMITED_COUNTS, type LimitedUsage } from "./limit.ts";

export interface Waiter {
  /** Returns true when it no longer waits. */
  readonly attempt: () => boolean;
  readonly usage: LimitedUsage;
  /** Waiters of one group wait for the same limits. */
  readonly group: object;
}

/** Waiters of one group that want the same usage, each with the number of its arrival. */
interface Lane {
  readonly group: object;
  readonly key: string;
  readonly usage: LimitedUsage;
  readonly waiters: Map<Waiter, number>;
}

export class WaitQueue {
  readonly #groups = new Map<object, Map<string, Lane>>();
  #arrivals = 0;

  /** The waiter is attempted on each `wake` until the returned function is called. */
  add(waiter: Waiter): () => void {
    const { group, usage } = waiter;
    const key = LIMITED_COUNTS.map((axis) => usage[axis] ?? 0).join(" ");
    const lanes = this.#groups.get(group) ?? new Map<string, Lane>();
    const lane = lanes.get(key) ?? { group, key, usage, waiters: new Map<Waiter, number>() };
    lane.waiters.set(waiter, this.#arrivals++);
    this.#groups.set(group, lanes.set(key, lane));
    return () => this.#remove(lane, waiter);
  }

  wake(): void {
    if (this.#groups.size === 0) return;
    let lanes = Array.from(this.#groups.values(), (ofGroup) => [...ofGroup.values()]).flat();
    for (let first = firstOf(lanes); first !== undefined; first = firstOf(lanes)) {
      const { group, usage } = first.lane;
      if (first.waiter.attempt()) this.#remove(first.lane, first.waiter);
      else lanes = lanes.filter((lane) => lane.group !== group || !isAtLeast(lane.usage, usage));
    }
  }

  #remove(lane: Lane, waiter: Waiter): void {
    if (!lane.waiters.delete(waiter) || lane.waiters.size > 0) return;
    const lanes = this.#groups.get(lane.group);
    lanes?.delete(lane.key);
    if (lanes?.size === 0) this.#groups.delete(lane.group);
  }
}

/** The waiter that arrived first. */
function firstOf(lanes: readonly Lane[]): { readonly lane: Lane; readonly waiter: Waiter } | undefined {
  let first: { readonly lane: Lane; readonly waiter: Waiter } | undefined;
  let earliest = Infinity;
  for (const lane of lanes) {
    const [waiter, arrival] = lane.waiters.entries().next().value ?? [];
    if (waiter === undefined || arrival === undefined || arrival >= earliest) continue;
    first = { lane, waiter };
    earliest = arrival;
  }
  return first;
}

function isAtLeast(a: LimitedUsage, b: LimitedUsage): boolean {
  return LIMITED_COUNTS.every((axis) => (a[axis] ?? 0) >= (b[axis] ?? 0));
}
