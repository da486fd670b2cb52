// What a run and all its nodes may spend, and what they have spent: one ledger for the whole tree.
//
// A call reserves the most that it can cost, is made, and is settled with what it did cost. A reservation is granted only where it
// fits under every limit above its node, so parallel calls cannot overshoot a limit together: as long as no call costs more than it
// reserved, used and held stay within every limit at every moment. A call that does cost more is reported in full.
//
// A grant limits a node and its descendants. It sets nothing aside: what is not used stays available to the run. The share kept for
// finishing belongs to the owner of the limit: the run's to the root, a grant's to the node that was given it.

import type { LedgerLimits, NodeId, RunUsage } from "../../protocol/runs.ts";
import { Account, type SharedState } from "./account.ts";
import { LimitChain } from "./limit-chain.ts";
import { Limit, type LimitOptions } from "./limit.ts";
import { FINISHING_SHARE } from "./time-limit.ts";
import { UsageTotals } from "./usage-totals.ts";
import { WaitQueue } from "./wait-queue.ts";

export const ROOT: NodeId = "n0";

export interface LedgerOptions {
  /** The share of each limit that is kept for finishing. Default: 0.1. */
  readonly finishingShare?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  readonly onLimit?: LimitOptions["onLimit"];
}

export class Ledger {
  readonly #limit: Limit;
  readonly #shared: SharedState;

  /** Time starts to count here. */
  constructor(
    limits: LedgerLimits,
    { finishingShare = FINISHING_SHARE, now, onLimit = () => undefined }: LedgerOptions,
  ) {
    const limitOptions = { finishingShare, now, onLimit };
    this.#limit = new Limit(ROOT, limits, limitOptions);
    this.#shared = { totals: new UsageTotals(), queue: new WaitQueue(), limitOptions };
  }

  openRoot(): Account {
    return new Account(this.#shared, ROOT, new LimitChain(ROOT, [this.#limit]));
  }

  usage(): RunUsage {
    return this.#shared.totals.toRunUsage(this.#limit.elapsedMs);
  }
}
