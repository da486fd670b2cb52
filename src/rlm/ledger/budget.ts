// What is left of the limits, as shown to code and to models.

import { formatCount } from "../../util/text/format.ts";
import type { LedgerAxis } from "../../protocol/runs.ts";
import type { Account } from "./account.ts";
import type { Standing } from "./limit-chain.ts";

/** Of the limits, as code in sessions knows them. */
export const BUDGET_NAMES: Readonly<Record<LedgerAxis, string>> = {
  tokens: "tokens",
  costUsd: "cost_usd",
  llmCalls: "llm_calls",
  toolCalls: "tool_calls",
  wallMs: "seconds",
  iterations: "iterations",
};

/** The value of `budget()` in a session, under the names that a grant has. Only what is limited. */
export function toBudget(account: Account): Record<string, unknown> {
  return Object.fromEntries(
    standings(account).map(([axis, { used, limit, left }]) => {
      const unit = axis === "wallMs" ? 1_000 : 1;
      return [BUDGET_NAMES[axis], { used: used / unit, limit: limit / unit, left: left / unit }];
    }),
  );
}

/**
 * One line for the last message of a step: limits that are at least half used. An earlier mention would only make each request
 * unique, so that caches and replays miss it; code can call `budget()` at any time.
 */
export function describeBudget(account: Account, blocksLeft: number): string {
  const left = standings(account)
    .filter(([, standing]) => standing.left <= standing.limit / 2)
    .map(([axis, standing]) => describeLeft(axis, standing.left));
  return `Left: ${[...left, `${blocksLeft} blocks of code`].join(", ")}.`;
}

function standings(account: Account): [LedgerAxis, Standing][] {
  return Object.entries(account.standing()) as [LedgerAxis, Standing][];
}

function describeLeft(axis: LedgerAxis, left: number): string {
  switch (axis) {
    case "costUsd":
      return `$${left.toFixed(4)}`;
    case "wallMs":
      return `${Math.round(left / 1000)} s`;
    case "tokens":
      return `${formatCount(Math.floor(left))} tokens`;
    case "llmCalls":
      return `${left} calls of models`;
    case "toolCalls":
      return `${left} calls of tools`;
    case "iterations":
      return `${left} blocks in the whole run`;
  }
}
