// One set of limits, either the run's or the grant of a node for itself and its descendants, with what was used and what is held.
//
// A share of tokens, money, model calls and time is kept for finishing; more of a small limit, where that share would not pay for a
// call. Finishing takes no steps and no tool calls, so all of those can be used before. Money is counted in whole nano-dollars.

import { ledgerAxis, type LedgerAxis, type LedgerLimits, type NodeId } from "../../protocol/runs.ts";
import { toNanoUsd, toUsd, type ModelUsage } from "../../protocol/usage.ts";
import { LimitReached } from "./limit-reached.ts";

type CountedAxis = Exclude<LedgerAxis, "wallMs">;

/** The part of a usage to which limits apply. An absent field or an unknown cost counts as 0. */
export type LimitedUsage = Partial<Pick<ModelUsage, CountedAxis>>;

export interface LimitNotice {
  readonly type: "limit-warning" | "limit-reached";
  /** The node that the limit belongs to. */
  readonly nodeId: NodeId;
  readonly axis: LedgerAxis;
  readonly used: number;
  readonly limit: number;
}

export interface LimitOptions {
  readonly finishingShare: number;
  readonly now: () => number;
  /** Called once for each axis and type. */
  readonly onLimit: (notice: LimitNotice) => void;
}

export const LIMITED_COUNTS = ["tokens", "costUsd", "llmCalls", "toolCalls", "iterations"] as const;
const WARNING_SHARE = 0.8;

export class Limit {
  readonly ownerId: NodeId;
  readonly #options: LimitOptions;
  /** All counters are whole numbers, costs in nano-dollars. */
  readonly #limits: ReadonlyMap<LedgerAxis, number>;
  readonly #used = zeros();
  readonly #held = zeros();
  readonly #neededForFinishing = zeros();
  readonly #notified = new Set<string>();
  readonly #startMs: number;

  constructor(ownerId: NodeId, limits: LedgerLimits, options: LimitOptions) {
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

  used(axis: LedgerAxis): number {
    return fromUnits(axis, this.#usedUnits(axis));
  }

  /** Infinity: none. */
  limit(axis: LedgerAxis): number {
    return fromUnits(axis, this.#limits.get(axis) ?? Infinity);
  }

  /** What is neither used nor, unless finishing, kept for finishing. Infinity: no limit. */
  unspent(axis: LedgerAxis, isFinishing: boolean): number {
    return fromUnits(axis, this.#unspentUnits(axis, isFinishing));
  }

  /** What is unspent and not held by calls in flight. */
  available(axis: LedgerAxis, isFinishing: boolean): number {
    return fromUnits(axis, this.#availableUnits(axis, isFinishing));
  }

  /** The first axis on which the usage does not fit: now, or `ever`, when calls in flight have given back all they hold. */
  blockedAxis(usage: LimitedUsage, isFinishing: boolean, when: "now" | "ever"): LedgerAxis | undefined {
    if (this.#unspentUnits("wallMs", isFinishing) <= 0) return "wallMs";
    return LIMITED_COUNTS.find((axis) => {
      const units = toUnits(axis, usage);
      if (units === 0) return false;
      return units > (when === "now" ? this.#availableUnits(axis, isFinishing) : this.#unspentUnits(axis, isFinishing));
    });
  }

  /** Reports the limit as reached. */
  refuse(axis: LedgerAxis, usage: LimitedUsage, isFinishing: boolean): LimitReached {
    this.warn();
    this.#notify("limit-reached", axis);
    const needed = axis === "wallMs" ? 0 : (usage[axis] ?? 0);
    return new LimitReached({
      axis,
      ownerId: this.ownerId,
      used: this.used(axis),
      limit: this.limit(axis),
      remaining: this.available(axis, isFinishing),
      needed,
      isTemporary: axis !== "wallMs" && needed <= this.unspent(axis, isFinishing),
    });
  }

  /** Keeps at least this much for finishing, up to half of the limit. */
  keepForFinishing(usage: LimitedUsage): void {
    for (const axis of LIMITED_COUNTS)
      this.#neededForFinishing[axis] = Math.max(this.#neededForFinishing[axis], toUnits(axis, usage));
  }

  hold(usage: LimitedUsage): void {
    add(this.#held, usage, 1);
  }

  release(usage: LimitedUsage): void {
    add(this.#held, usage, -1);
  }

  spend(usage: LimitedUsage): void {
    add(this.#used, usage, 1);
  }

  /** Reports every limit that is nearly used up. */
  warn(): void {
    for (const [axis, limit] of this.#limits) {
      if (limit > 0 && this.#usedUnits(axis) >= limit * WARNING_SHARE) this.#notify("limit-warning", axis);
    }
  }

  #notify(type: LimitNotice["type"], axis: LedgerAxis): void {
    const key = `${type} ${axis}`;
    if (this.#notified.has(key)) return;
    this.#notified.add(key);
    // A limit that was reached is not near any more, whatever finishing adds.
    if (type === "limit-reached") this.#notified.add(`limit-warning ${axis}`);
    this.#options.onLimit({ type, nodeId: this.ownerId, axis, used: this.used(axis), limit: this.limit(axis) });
  }

  #unspentUnits(axis: LedgerAxis, isFinishing: boolean): number {
    const limit = this.#limits.get(axis);
    if (limit === undefined) return Infinity;
    const kept = isFinishing ? 0 : this.#keptUnits(axis, limit);
    return Math.max(0, limit - kept - this.#usedUnits(axis));
  }

  #availableUnits(axis: LedgerAxis, isFinishing: boolean): number {
    const held = axis === "wallMs" ? 0 : this.#held[axis];
    return Math.max(0, this.#unspentUnits(axis, isFinishing) - held);
  }

  #keptUnits(axis: LedgerAxis, limit: number): number {
    const share = Math.floor(limit * this.#options.finishingShare);
    switch (axis) {
      case "tokens":
      case "costUsd":
        return Math.max(share, Math.min(this.#neededForFinishing[axis], Math.floor(limit / 2)));
      case "wallMs":
        return share;
      case "llmCalls":
        return Math.min(limit, Math.max(1, share));
      case "toolCalls":
      case "iterations":
        return 0;
    }
  }

  #usedUnits(axis: LedgerAxis): number {
    return axis === "wallMs" ? this.elapsedMs : this.#used[axis];
  }
}

/** Written out, because it runs several times per call. */
function add(counts: Record<CountedAxis, number>, usage: LimitedUsage, sign: 1 | -1): void {
  counts.tokens += sign * (usage.tokens ?? 0);
  counts.costUsd += sign * toNanoUsd(usage.costUsd ?? 0);
  counts.llmCalls += sign * (usage.llmCalls ?? 0);
  counts.toolCalls += sign * (usage.toolCalls ?? 0);
  counts.iterations += sign * (usage.iterations ?? 0);
}

function toUnits(axis: CountedAxis, usage: LimitedUsage): number {
  return axis === "costUsd" ? toNanoUsd(usage.costUsd ?? 0) : (usage[axis] ?? 0);
}

function fromUnits(axis: LedgerAxis, units: number): number {
  return axis === "costUsd" ? toUsd(units) : units;
}

function parseLimits(limits: LedgerLimits): ReadonlyMap<LedgerAxis, number> {
  const parsed = new Map<LedgerAxis, number>();
  for (const axis of ledgerAxis.options) {
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
