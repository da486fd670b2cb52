// The outcome of a child, as the code that asked for it gets it.

import type { StopReason } from "../../protocol/runs.ts";
import { BUDGET_NAMES } from "../ledger/budget.ts";
import type { NodeOutcome } from "../run-context.ts";
import type { QueryReply } from "./queries.ts";

/** The same word as for a model call where the answer is whole, else what ended the child. */
const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  ...BUDGET_NAMES,
  answered: "stop",
  error: "error",
  cancelled: "cancelled",
};

/** A partial answer counts as one. A text that does not follow the schema does not. */
export function toChildReply(outcome: NodeOutcome, { hasSchema }: { readonly hasSchema: boolean }): QueryReply {
  const { status, stopReason, answer, data, why, backendError } = outcome;
  const isAnswer = answer !== null && (status === "final" || status === "partial");
  const finish_reason = FINISH_REASONS[stopReason];
  const base = { text: answer ?? "", finish_reason, truncated: status === "partial" };
  if (isAnswer && (!hasSchema || data !== undefined)) return { ok: true, ...base, data: data ?? null };
  const other = isAnswer ? "schema" : (backendError?.fault ?? stopReason);
  const kind = Object.hasOwn(BUDGET_NAMES, stopReason) ? "limit" : other;
  const retryable = backendError?.retryable ?? false;
  return { ok: false, ...base, error: why ?? "it has no answer", kind, retryable };
}
