// Amounts and states of a run as people read them.

import type { RunResult } from "../../protocol/runs.ts";
import { toCost } from "../logs/format.ts";
import type { NodeProgress, Progress } from "./progress.ts";

export function toTokens(tokens: number): string {
  if (tokens < 10_000) return `${tokens.toLocaleString("en-US")} tokens`;
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k tokens` : `${(tokens / 1_000_000).toFixed(2)}M tokens`;
}

export function toCalls(calls: number): string {
  return `${calls} ${calls === 1 ? "call" : "calls"}`;
}

export function toSeconds(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

export function toState(node: NodeProgress): string {
  const { status, isRunningCode, calls, tool, step } = node;
  if (status !== null) return status === "final" ? "done" : status;
  if (isRunningCode) {
    if (calls.size > 0) return calls.size === 1 ? "asks a model" : `asks ${calls.size} models`;
    return tool === undefined ? "runs code" : `calls ${tool}`;
  }
  return step === 0 && calls.size === 0 ? "starts" : "thinks";
}

/** The last line. */
export function toSummary(result: RunResult, { nodes }: Progress): string {
  const { status, stopReason, usage, runId } = result;
  const { tokens, estimatedTokens, costUsd, llmCalls, cachedCalls } = usage.total;
  const cached = cachedCalls > 0 ? ` (${cachedCalls} from the cache)` : "";
  const estimated = estimatedTokens > 0 ? ` (${toTokens(estimatedTokens).replace(" tokens", "")} estimated)` : "";
  return [
    status === "partial" ? `partial (limit: ${stopReason})` : status,
    `${nodes.size} ${nodes.size === 1 ? "node" : "nodes"}`,
    `${toCalls(llmCalls)}${cached}`,
    `${toTokens(tokens)}${estimated}`,
    toCost(costUsd),
    toSeconds(usage.wallMs),
    `run ${runId}`,
  ].join(" · ");
}

/** One line of at most so many characters. */
export function toLine(text: string, most: number): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= most ? line : `${line.slice(0, Math.max(0, most - 1))}…`;
}
