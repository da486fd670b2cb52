// What a limit of the ledger refused. It stays inside of a run: code sees it as an exception, the loop as the time to finish.

import { RLMError } from "../../errors.ts";
import type { LedgerAxis, NodeId } from "../../protocol/runs.ts";

const UNITS: Readonly<Record<LedgerAxis, string>> = {
  tokens: "tokens",
  costUsd: "USD",
  llmCalls: "calls of models",
  toolCalls: "calls of tools",
  wallMs: "ms",
  iterations: "steps",
};

/** Nothing was reserved or counted. Something smaller may fit in what `remaining` tells; finishing has its own share. */
export class LimitReached extends RLMError {
  readonly code = "LIMIT_REACHED";
  readonly axis: LedgerAxis;
  /** Whose limit it is: the root for the run's own, else the node that got the grant. */
  readonly ownerId: NodeId;
  readonly used: number;
  readonly limit: number;
  /** Of this limit: neither used, nor held by calls under way, nor kept for finishing. */
  readonly remaining: number;
  /** It would fit if calls under way gave back all that they hold. */
  readonly isTemporary: boolean;
  constructor(
    refusal: {
      readonly axis: LedgerAxis;
      readonly ownerId: NodeId;
      readonly used: number;
      readonly limit: number;
      readonly remaining: number;
      readonly needed: number;
      readonly isTemporary: boolean;
    },
    options?: ErrorOptions,
  ) {
    const { axis, used, limit, remaining, needed } = refusal;
    const [need, left, all] = [needed, remaining, limit].map((value) => toText(value));
    const what =
      axis === "wallMs"
        ? `only ${left} of ${all} ms are left`
        : `this needs ${need} ${UNITS[axis]}, ${left} of ${all} are left`;
    super(`Cannot go on: ${what}`, options);
    this.axis = axis;
    this.ownerId = refusal.ownerId;
    this.used = used;
    this.limit = limit;
    this.remaining = remaining;
    this.isTemporary = refusal.isTemporary;
  }
}

/** A limit of which nothing is left. */
export function toLimit(axis: LedgerAxis, ownerId: NodeId, used: number, limit: number): LimitReached {
  return new LimitReached({ axis, ownerId, used, limit, remaining: 0, needed: 1, isTemporary: false });
}

function toText(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
}
