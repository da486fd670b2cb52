// What is left of the limits, as code and as a model is told.

import type { LedgerAxis } from "../../protocol/runs.ts";
import type { Account } from "./ledger.ts";

const NAMES: Readonly<Record<LedgerAxis, string>> = {
  tokens: "tokens",
  costUsd: "cost_usd",
  llmCalls: "llm_calls",
  toolCalls: "tool_calls",
  wallMs: "seconds",
  iterations: "iterations",
};

type Entries = [LedgerAxis, { readonly used: number; readonly limit: number; readonly left: number }][];

/** As `budget()` in a session gives it, by the names that a grant has. Only what is limited. */
export function toBudget(account: Account): Record<string, unknown> {
  return Object.fromEntries(
    (Object.entries(account.standing()) as Entries).map(([axis, { used, limit, left }]) => {
      const unit = axis === "wallMs" ? 1_000 : 1;
      return [NAMES[axis], { used: used / unit, limit: limit / unit, left: left / unit }];
    }),
  );
}

/**
 * One line for the last message of a turn: what is limited and half used. Before that it would only make every request another
 * one, which no cache knows and no replay finds; code can ask at any time.
 */
export function describeBudget(account: Account, blocksLeft: number): string {
  const left = (Object.entries(account.standing()) as Entries)
    .filter(([, standing]) => standing.left <= standing.limit / 2)
    .map(([axis, standing]) => describeLeft(axis, standing.left));
  return `Left: ${[...left, `${blocksLeft} blocks of code`].join(", ")}.`;
}

function describeLeft(axis: LedgerAxis, left: number): string {
  switch (axis) {
    case "costUsd":
      return `$${left.toFixed(4)}`;
    case "wallMs":
      return `${Math.round(left / 1000)} s`;
    case "tokens":
      return `${Math.floor(left).toLocaleString("en-US")} tokens`;
    case "llmCalls":
      return `${left} calls of models`;
    case "toolCalls":
      return `${left} calls of tools`;
    case "iterations":
      return `${left} blocks in the whole run`;
  }
}
