// One set of limits: the run's, or the grant of a node for itself and all below it. Knows what was used and what is held.
//
// Amounts are whole numbers, money in billionths of a dollar. A share of tokens, money, calls of models and time is kept for
// finishing, and more of a small limit, where that share would not pay for a call; steps and calls of tools are not part of
// finishing, so all of them can be used before.

import type { LedgerAxis, LedgerLimits, NodeId } from "../../protocol/runs.ts";
import { LimitReached } from "./limit-reached.ts";
import { toNanoUsd, toUsd } from "./nano-usd.ts";

export type CountedAxis = Exclude<LedgerAxis, "wallMs">;

export type Amounts = Readonly<Partial<Record<CountedAxis, number>>>;

/** The owner of the limit, and what became of it. Told once for an axis and level. */
export type LimitListener = (
  ownerId: NodeId,
  axis: LedgerAxis,
  level: "warning" | "reached",
  used: number,
  limit: number,
) => void;

export interface BoundOptions {
  readonly finishingShare: number;
  readonly now: () => number;
  readonly onLimit: LimitListener;
}

const AXES: readonly LedgerAxis[] = ["tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations"];
export const COUNTED: readonly CountedAxis[] = ["tokens", "costUsd", "llmCalls", "toolCalls", "iterations"];
const WARNING_SHARE = 0.8;

export class Bound {
  /** Null: of the whole run, before it has a node. */
  ownerId: NodeId | null;
  readonly #options: BoundOptions;
  readonly #limits: ReadonlyMap<LedgerAxis, number>;
  readonly #used = zeros();
  readonly #held = zeros();
  /** What finishing takes at least. */
  readonly #needed = zeros();
  readonly #told = new Set<string>();
  readonly #startMs: number;

  constructor(ownerId: NodeId | null, limits: LedgerLimits, options: BoundOptions) {
    this.ownerId = ownerId;
    this.#options = options;
    this.#limits = parseLimits(limits);
    this.#startMs = options.now();
  }

  has(axis: LedgerAxis): boolean {
    return this.#limits.has(axis);
  }

  get elapsedMs(): number {
    return Math.max(0, this.#options.now() - this.#startMs);
  }

  /** What is neither used nor (unless finishing) kept for finishing. Infinity: no limit. */
  left(axis: LedgerAxis, isFinishing: boolean): number {
    const limit = this.#limits.get(axis);
    if (limit === undefined) return Infinity;
    const kept = isFinishing ? 0 : this.#kept(axis, limit);
    return Math.max(0, limit - kept - this.#usedOf(axis));
  }

  /** What is left and not held by calls under way. */
  room(axis: LedgerAxis, isFinishing: boolean): number {
    const held = axis === "wallMs" ? 0 : this.#held[axis];
    return Math.max(0, this.left(axis, isFinishing) - held);
  }

  /** The axis on which the amounts do not fit: now, or even if calls under way gave back all they hold. When time is over nothing fits. */
  obstacle(amounts: Amounts, isFinishing: boolean, when: "now" | "ever"): LedgerAxis | undefined {
    if (this.left("wallMs", isFinishing) <= 0) return "wallMs";
    for (const axis of COUNTED) {
      const amount = amounts[axis] ?? 0;
      if (amount > 0 && amount > (when === "now" ? this.room(axis, isFinishing) : this.left(axis, isFinishing)))
        return axis;
    }
    return undefined;
  }

  /** Tells of it, too. */
  toRefusal(axis: LedgerAxis, amounts: Amounts, isFinishing: boolean): LimitReached {
    this.warn();
    this.#tell(axis, "reached");
    const amount = axis === "wallMs" ? 0 : (amounts[axis] ?? 0);
    return new LimitReached({
      axis,
      ownerId: this.ownerId ?? "",
      used: fromUnits(axis, this.#usedOf(axis)),
      limit: fromUnits(axis, this.#limits.get(axis) ?? 0),
      remaining: fromUnits(axis, this.room(axis, isFinishing)),
      needed: fromUnits(axis, amount),
      isTemporary: axis !== "wallMs" && amount <= this.left(axis, isFinishing),
    });
  }

  /** Finishing takes this much: so much is kept for it, up to half of a limit. */
  keep(amounts: Amounts): void {
    for (const axis of COUNTED) this.#needed[axis] = Math.max(this.#needed[axis], amounts[axis] ?? 0);
  }

  used(axis: LedgerAxis): number {
    return this.#usedOf(axis);
  }

  /** Infinity: none. */
  limit(axis: LedgerAxis): number {
    return this.#limits.get(axis) ?? Infinity;
  }

  hold(amounts: Amounts): void {
    for (const axis of COUNTED) this.#held[axis] += amounts[axis] ?? 0;
  }

  /** Of what was held. */
  free(amounts: Amounts): void {
    for (const axis of COUNTED) this.#held[axis] -= amounts[axis] ?? 0;
  }

  spend(amounts: Amounts): void {
    for (const axis of COUNTED) this.#used[axis] += amounts[axis] ?? 0;
  }

  /** Tells of what is nearly used up, time included. */
  warn(): void {
    for (const [axis, limit] of this.#limits) {
      const used = this.#usedOf(axis);
      if (limit > 0 && used >= limit * WARNING_SHARE) this.#tell(axis, "warning");
    }
  }

  #tell(axis: LedgerAxis, level: "warning" | "reached"): void {
    const key = `${axis} ${level}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const limit = this.#limits.get(axis) ?? 0;
    this.#options.onLimit(this.ownerId ?? "", axis, level, fromUnits(axis, this.#usedOf(axis)), fromUnits(axis, limit));
  }

  #kept(axis: LedgerAxis, limit: number): number {
    const share = Math.floor(limit * this.#options.finishingShare);
    switch (axis) {
      case "tokens":
      case "costUsd":
        return Math.max(share, Math.min(this.#needed[axis], Math.floor(limit / 2)));
      case "wallMs":
        return share;
      case "llmCalls":
        return Math.min(limit, Math.max(1, share));
      case "toolCalls":
      case "iterations":
        return 0;
    }
  }

  #usedOf(axis: LedgerAxis): number {
    return axis === "wallMs" ? this.elapsedMs : this.#used[axis];
  }
}

export function fromUnits(axis: LedgerAxis, value: number): number {
  return axis === "costUsd" ? toUsd(value) : value;
}

function parseLimits(limits: LedgerLimits): ReadonlyMap<LedgerAxis, number> {
  const parsed = new Map<LedgerAxis, number>();
  for (const axis of AXES) {
    const limit = limits[axis];
    if (limit === undefined) continue;
    if (!Number.isFinite(limit) || limit < 0) {
      throw new RangeError(`Cannot use ${limit} as a limit on ${axis}: it must be a number of at least 0`);
    }
    parsed.set(axis, axis === "costUsd" ? toNanoUsd(limit) : Math.floor(limit));
  }
  return parsed;
}

function zeros(): Record<CountedAxis, number> {
  return { tokens: 0, costUsd: 0, llmCalls: 0, toolCalls: 0, iterations: 0 };
}
