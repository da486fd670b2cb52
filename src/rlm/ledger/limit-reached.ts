// A refusal by a limit of the ledger. It stays inside the run: code sees it as an exception, the node as the signal to finish.

import type { LedgerAxis, NodeId } from "../../protocol/runs.ts";
import { formatAmount } from "../../util/text/runs/limit-names.ts";

/** For one and for more. Amounts of money and time have their unit in the number. */
const UNITS: Readonly<Record<LedgerAxis, readonly [string, string]>> = {
  tokens: [" token", " tokens"],
  costUsd: ["", ""],
  llmCalls: [" call of a model", " calls of models"],
  toolCalls: [" call of a tool", " calls of tools"],
  wallMs: ["", ""],
  iterations: [" step", " steps"],
};

interface Refusal {
  readonly axis: LedgerAxis;
  /** Whose limit it is: the root for the run's own, else the node that was given the grant. */
  readonly ownerId: NodeId;
  readonly used: number;
  readonly limit: number;
  /** What is neither used, nor held by calls in flight, nor kept for finishing. */
  readonly remaining: number;
  readonly needed: number;
  /** It would fit if calls in flight gave back all that they hold. */
  readonly isTemporary: boolean;
}

/** Nothing was reserved or counted. A smaller call may fit in `remaining`; finishing has a share of its own. */
export class LimitReached extends Error {
  override readonly name = "LimitReached";
  readonly axis: LedgerAxis;
  readonly ownerId: NodeId;
  readonly used: number;
  readonly limit: number;
  readonly remaining: number;
  readonly isTemporary: boolean;
  constructor({ axis, ownerId, used, limit, remaining, needed, isTemporary }: Refusal, options?: ErrorOptions) {
    const [need, left, all] = [needed, remaining, limit].map((value) => formatAmount(axis, value));
    const what =
      axis === "wallMs"
        ? `only ${left} of ${all} are left`
        : `this needs ${need}${UNITS[axis][needed === 1 ? 0 : 1]}, ${left} of ${all} are left`;
    super(`Cannot go on: ${what}`, options);
    this.axis = axis;
    this.ownerId = ownerId;
    this.used = used;
    this.limit = limit;
    this.remaining = remaining;
    this.isTemporary = isTemporary;
  }
}

/** A limit of which nothing is left. */
export function toExhausted(axis: LedgerAxis, ownerId: NodeId, used: number, limit: number): LimitReached {
  return new LimitReached({ axis, ownerId, used, limit, remaining: 0, needed: 1, isTemporary: false });
}
