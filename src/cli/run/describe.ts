// The state of a node, the share of the budget and the outcome of a run, in words.

import type { LedgerAxis, RunResult } from "../../protocol/runs.ts";
import { LIMIT_NAMES } from "../../util/text/runs/limit-names.ts";
import { describeWait } from "../../util/text/runs/describe-wait.ts";
import { formatCost, formatCount, formatSeconds, formatSize, formatTokens } from "../../util/text/format.ts";
import { ROLE_NAMES, ROLES } from "../logs/role-names.ts";
import type { NodeProgress, Progress, Waiting } from "./progress.ts";

export function describeState(node: NodeProgress): string {
  const { status, isRunningCode, calls, tool, step, contextBytes } = node;
  if (status !== null) return status === "final" ? "done" : status;
  if (isRunningCode) {
    const batch = describeBatches(node);
    if (batch !== "") return batch;
    if (calls.size > 0) return calls.size === 1 ? "asks a model" : `asks ${calls.size} models`;
    return tool === undefined ? "runs code" : `calls ${tool}`;
  }
  if (step > 0 || calls.size > 0) return "thinks";
  return contextBytes < LARGE_BYTES ? "starts" : `loads ${formatSize(contextBytes)}`;
}

/** A context that takes some time. */
const LARGE_BYTES = 16 * 1024 ** 2;

/** `37 of 200 answered`. Empty: its code waits for no batch. */
export function describeBatches({ batches }: NodeProgress): string {
  if (batches.size === 0) return "";
  const open = [...batches.values()];
  const answered = open.reduce((sum, batch) => sum + batch.answered.size, 0);
  const asked = open.reduce((sum, { size }) => sum + size, 0);
  return `${formatCount(answered)} of ${formatCount(asked)} answered`;
}

/** `rate-limited, trying again in 2 s`. Empty: nothing waits. */
export function describeWaiting(waiting: Waiting | undefined): string {
  if (waiting === undefined) return "";
  const { calls } = waiting;
  return `${calls === 1 ? "" : `${formatCount(calls, "call")}: `}${describeWait(waiting)}`;
}

/** What is used of the limit that is nearest: `62 % of $0.50`. Empty: too little to mention. */
export function describeBudget({ limits, total, startedAt }: Progress, now: number): string {
  const used: Partial<Record<LedgerAxis, number | null>> = { ...total, wallMs: now - startedAt };
  const shares = AXES.flatMap((axis) => {
    const limit = limits[axis] ?? 0;
    const share = limit > 0 ? (used[axis] ?? 0) / limit : 0;
    return share < MENTIONED[axis] ? [] : [{ axis, limit, share }];
  });
  const nearest = shares.toSorted((a, b) => b.share - a.share)[0];
  return nearest === undefined ? "" : `${Math.floor(100 * nearest.share)} % of ${FORMATS[nearest.axis](nearest.limit)}`;
}

const AXES = ["costUsd", "tokens", "llmCalls", "wallMs"] as const satisfies readonly LedgerAxis[];
/** The least share that is shown. Calls and time are always limited, by their defaults. */
const MENTIONED: Readonly<Record<(typeof AXES)[number], number>> = {
  costUsd: 0.01,
  tokens: 0.01,
  llmCalls: 0.2,
  wallMs: 0.2,
};
const FORMATS: Readonly<Record<(typeof AXES)[number], (limit: number) => string>> = {
  costUsd: (limit) => formatCost(limit).replace(/(\.\d\d)0+$/, "$1"),
  tokens: (limit) => formatTokens(limit).replace(/\.0+(?=[kM])/, ""),
  llmCalls: (limit) => formatCount(limit, "call"),
  wallMs: (limit) => formatSeconds(limit).replace(/\.0(?= s)| 0 s$/, ""),
};

/** `root $0.12`, `llm_query $0.30`. Empty: one role has all the cost, or no cost is known. */
function describeRoles({ byRole }: RunResult["usage"]): readonly string[] {
  const paid = ROLES.flatMap((role) => {
    const { costUsd } = byRole[role] ?? { costUsd: 0 };
    return costUsd === 0 ? [] : [{ costUsd, text: `${ROLE_NAMES[role]} ${formatCost(costUsd)}` }];
  });
  const isKnown = paid.some(({ costUsd }) => costUsd !== null);
  return paid.length > 1 && isKnown ? paid.map(({ text }) => text) : [];
}

/** The parts of the last line of the display; the id of the run is the last one. */
export function describeResult(result: RunResult, { nodes }: Progress): string[] {
  const { status, stopReason, usage, runId } = result;
  const { tokens, estimatedTokens, costUsd, llmCalls, cachedCalls } = usage.total;
  const cached = cachedCalls > 0 ? ` (${formatCount(cachedCalls)} from the cache)` : "";
  const estimated = estimatedTokens > 0 ? ` (${formatTokens(estimatedTokens).replace(" tokens", "")} estimated)` : "";
  return [
    status === "partial" && stopReason in LIMIT_NAMES
      ? `partial (limit: ${LIMIT_NAMES[stopReason as LedgerAxis]})`
      : status,
    formatCount(nodes.size, "node"),
    `${formatCount(llmCalls, "call")}${cached}`,
    `${formatTokens(tokens)}${estimated}`,
    formatCost(costUsd),
    ...describeRoles(usage),
    formatSeconds(usage.wallMs),
    `run ${runId}`,
  ];
}
