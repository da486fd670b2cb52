// What a run and all its nodes may spend, and what they spent: one ledger for the whole tree.
//
// Every call reserves the most that it can cost, is made, and is settled with what it did cost. A reservation is granted only where it
// fits under every limit above its node, so calls in parallel cannot overshoot together; as long as no call costs more than it
// reserved, used and held stay within every limit at every moment. One that does cost more is told as it is, and what it took is missing.
//
// A grant bounds a node and all below it. It takes nothing away from the others: what is not used stays the run's. The share kept
// for finishing belongs to the owner of the limit: the run's to the root, a grant's to the node that got it.

import type { LedgerLimits, NodeId, RunUsage } from "../../protocol/runs.ts";
import { Account } from "./account.ts";
import { Books } from "./wait-queue.ts";
import { Bound, type LimitListener } from "./limit.ts";

export type { Account, Reservation } from "./account.ts";
export type { CallUsage } from "./call-amounts.ts";

export interface LedgerOptions {
  /** Of each limit. Default: 0.1. */
  readonly finishingShare?: number;
  /** In milliseconds, of a clock that never goes back. */
  readonly now: () => number;
  readonly onLimit?: LimitListener;
}

export class Ledger {
  readonly #bound: Bound;
  readonly #books: Books;

  /** Time starts to count here. */
  constructor(limits: LedgerLimits, { finishingShare = 0.1, now, onLimit = () => undefined }: LedgerOptions) {
    const options = { finishingShare, now, onLimit };
    this.#bound = new Bound(null, limits, options);
    this.#books = new Books(options);
  }

  /** Of the root. What it finishes with is the run's share, and that of its grant if it has one. */
  open(nodeId: NodeId, grant?: LedgerLimits): Account {
    this.#bound.ownerId ??= nodeId;
    return Account.open(this.#books, { nodeId, grant, above: [{ bound: this.#bound, mayFinish: true }] });
  }

  /** Until the run's time is over; undefined: it has no such limit. */
  leftMs({ finishing = false }: { readonly finishing?: boolean } = {}): number | undefined {
    return this.#bound.has("wallMs") ? this.#bound.left("wallMs", finishing) : undefined;
  }

  usage(): RunUsage {
    return { ...this.#books.usage(), wallMs: this.#bound.elapsedMs };
  }
}
