// The limits above one node: its own grant first, the limits of the run last. What the node spends counts against all of them.

import { ledgerAxis, type LedgerAxis, type NodeId } from "../../protocol/runs.ts";
import type { LimitReached } from "./limit-reached.ts";
import type { Limit, LimitedUsage } from "./limit.ts";

/** One limit. `left` is neither used, nor held by calls in flight, nor kept for finishing. */
export interface Standing {
  readonly used: number;
  readonly limit: number;
  readonly left: number;
}

export interface Obstacle {
  /** It passes when calls in flight give back what they hold. */
  readonly isTemporary: boolean;
  /** Reports the limit as reached. */
  readonly refuse: () => LimitReached;
}

export class LimitChain {
  readonly #nodeId: NodeId;
  readonly #limits: readonly Limit[];

  constructor(nodeId: NodeId, limits: readonly Limit[]) {
    this.#nodeId = nodeId;
    this.#limits = limits;
  }

  /** The chain of a child. */
  extend(nodeId: NodeId, grant: Limit | undefined): LimitChain {
    return new LimitChain(nodeId, grant === undefined ? this.#limits : [grant, ...this.#limits]);
  }

  has(axis: LedgerAxis): boolean {
    return this.#limits.some((limit) => limit.has(axis));
  }

  /** Undefined: the usage fits. A permanent obstacle takes precedence over a temporary one. */
  obstacle(usage: LimitedUsage, finishing: boolean): Obstacle | undefined {
    for (const when of ["ever", "now"] as const) {
      for (const limit of this.#limits) {
        const isFinishing = finishing && this.#mayFinish(limit);
        const axis = limit.blockedAxis(usage, isFinishing, when);
        if (axis !== undefined)
          return { isTemporary: when === "now", refuse: () => limit.refuse(axis, usage, isFinishing) };
      }
    }
    return undefined;
  }

  hold(usage: LimitedUsage): void {
    for (const limit of this.#limits) limit.hold(usage);
  }

  release(usage: LimitedUsage): void {
    for (const limit of this.#limits) limit.release(usage);
  }

  spend(usage: LimitedUsage): void {
    for (const limit of this.#limits) limit.spend(usage);
  }

  warn(): void {
    for (const limit of this.#limits) limit.warn();
  }

  keepForFinishing(usage: LimitedUsage): void {
    for (const limit of this.#limits) if (this.#mayFinish(limit)) limit.keepForFinishing(usage);
  }

  /** The least that any limit leaves: with or without what calls in flight hold. Infinity: no limit. */
  least(what: "unspent" | "available", axis: LedgerAxis, finishing: boolean): number {
    let least = Infinity;
    for (const limit of this.#limits) least = Math.min(least, limit[what](axis, finishing && this.#mayFinish(limit)));
    return least;
  }

  /** By axis, the limit that leaves least. Absent: no limit. */
  standing(finishing: boolean): { readonly [axis in LedgerAxis]?: Standing } {
    const standings = ledgerAxis.options.flatMap((axis) => {
      const [tightest] = this.#limits
        .filter((limit) => limit.has(axis))
        .map((limit) => ({ limit, left: limit.available(axis, finishing && this.#mayFinish(limit)) }))
        .toSorted((a, b) => a.left - b.left);
      if (tightest === undefined) return [];
      const { limit, left } = tightest;
      return [[axis, { used: limit.used(axis), limit: limit.limit(axis), left }] as const];
    });
    return Object.fromEntries(standings);
  }

  /** The share kept for finishing belongs to the owner of a limit. */
  #mayFinish({ ownerId }: Limit): boolean {
    return ownerId === this.#nodeId;
  }
}
