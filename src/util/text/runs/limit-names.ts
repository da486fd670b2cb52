// The limits of a run in words.

import { formatCost, formatCount, formatSeconds } from "../format.ts";

export const LIMIT_NAMES = {
  tokens: "tokens",
  costUsd: "cost",
  llmCalls: "model calls",
  toolCalls: "tool calls",
  wallMs: "time",
  iterations: "steps",
} as const;

type Axis = keyof typeof LIMIT_NAMES;

interface Share {
  readonly axis: Axis;
  readonly used: number;
  readonly limit: number;
}

export function formatAmount(axis: Axis, amount: number): string {
  if (axis === "costUsd") return formatCost(amount);
  return axis === "wallMs" ? formatSeconds(amount) : formatCount(amount);
}

/** `cost: $0.41 of $0.50`. */
export function describeLimit({ axis, used, limit }: Share): string {
  return `${LIMIT_NAMES[axis]}: ${formatAmount(axis, used)} of ${formatAmount(axis, limit)}`;
}
