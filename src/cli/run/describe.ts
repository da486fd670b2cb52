// The state of a node and the outcome of a run, in words.

import type { RunResult } from "../../protocol/runs.ts";
import { formatCost, formatCount, formatSeconds, formatTokens } from "../../util/text/format.ts";
import type { NodeProgress, Progress } from "./progress.ts";

export function describeState(node: NodeProgress): string {
  const { status, isRunningCode, calls, tool, step } = node;
  if (status !== null) return status === "final" ? "done" : status;
  if (isRunningCode) {
    if (calls.size > 0) return calls.size === 1 ? "asks a model" : `asks ${calls.size} models`;
    return tool === undefined ? "runs code" : `calls ${tool}`;
  }
  return step === 0 && calls.size === 0 ? "starts" : "thinks";
}

/** The last line of the display. */
export function describeResult(result: RunResult, { nodes }: Progress): string {
  const { status, stopReason, usage, runId } = result;
  const { tokens, estimatedTokens, costUsd, llmCalls, cachedCalls } = usage.total;
  const cached = cachedCalls > 0 ? ` (${cachedCalls} from the cache)` : "";
  const estimated = estimatedTokens > 0 ? ` (${formatTokens(estimatedTokens).replace(" tokens", "")} estimated)` : "";
  return [
    status === "partial" ? `partial (limit: ${stopReason})` : status,
    formatCount(nodes.size, "node"),
    `${formatCount(llmCalls, "call")}${cached}`,
    `${formatTokens(tokens)}${estimated}`,
    formatCost(costUsd),
    formatSeconds(usage.wallMs),
    `run ${runId}`,
  ].join(" · ");
}
