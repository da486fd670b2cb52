// Why a run has no answer, or not a complete one, and which option allows more.

import type { RunResult, StopReason } from "../../protocol/runs.ts";

const FLAGS: ReadonlyMap<StopReason, string> = new Map([
  ["tokens", "--token-budget"],
  ["costUsd", "--cost-budget"],
  ["llmCalls", "--call-budget"],
  ["toolCalls", "--tool-budget"],
  ["wallMs", "--timeout"],
  ["iterations", "--max-iterations"],
]);

type Ending = Pick<RunResult, "status" | "stopReason" | "why">;

/** Undefined: there is nothing to say. */
export function describeEnd({ status, stopReason, why }: Ending): string | undefined {
  const flag = FLAGS.get(stopReason);
  const fix = flag === undefined ? "" : `. Raise the limit with ${flag}`;
  if (status === "failed") return `the run failed: ${why ?? "it has no answer"}${fix}`;
  return status === "partial" && why !== null ? `the answer is not complete: ${why}${fix}` : undefined;
}
