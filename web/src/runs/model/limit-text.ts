// Limits in words.

import { formatCost, formatCount, formatDuration } from "../../parts/format.ts";
import type { OutlineMark, RunOutline } from "../../state/runs/run-source.ts";

type Axis = OutlineMark["axis"];

export const AXIS_NAMES: Readonly<Record<Axis, string>> = {
  tokens: "Tokens",
  costUsd: "Cost",
  llmCalls: "Model calls",
  toolCalls: "Tool calls",
  wallMs: "Time",
  iterations: "Steps",
};

export function formatAmount(axis: Axis, amount: number): string {
  if (axis === "costUsd") return formatCost(amount);
  return axis === "wallMs" ? formatDuration(amount) : formatCount(amount);
}

/** As in `Limit reached: tokens, 40.0k of 40.0k`. */
export function markText({ kind, axis, used, limit }: OutlineMark): string {
  const what = kind === "limit-reached" ? "Limit reached" : "Limit near";
  return `${what}: ${AXIS_NAMES[axis].toLowerCase()}, ${formatAmount(axis, used)} of ${formatAmount(axis, limit)}`;
}

/** The limit that ended a node. Undefined: it was none. */
export function stoppedBy(reason: RunOutline["nodes"][number]["stopReason"]): string | undefined {
  if (reason === null || reason === "answered" || reason === "error" || reason === "cancelled") return undefined;
  return `stopped by the limit on ${AXIS_NAMES[reason].toLowerCase()}`;
}
