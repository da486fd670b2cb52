// Renders a run that has ended: the answer, and its usage.

import type { RunTask } from "../../../tasks/run-task.ts";
import type { RunResult } from "../../../protocol/runs.ts";
import type { WorkFacts } from "../output-schema.ts";
import type { ToolResult } from "./result.ts";
import { textSource } from "../../../util/bytes/byte-source.ts";
import { truncateOutput } from "../../../util/text/truncate.ts";
import { toReadOn } from "./output.ts";
import { formatCost, formatCount, formatSeconds } from "../../../util/text/format.ts";
import { shorten } from "../../../util/text/shorten.ts";
import { joinParts, toNote } from "./format.ts";

/** Reserved for the text after the answer. */
const NOTE_CHARACTERS = 600;
const MAX_WHY = 400;

/** Waits for the end of the run. */
export async function renderRun(task: RunTask, maxOutput: number): Promise<ToolResult<WorkFacts>> {
  await task.ended;
  const { durationMs } = task.info();
  const base = { task_id: task.id, run_id: task.run.id, kind: "run" as const, duration_ms: Math.round(durationMs) };
  const result = await task.run.result.catch(() => undefined);
  if (result === undefined)
    return { text: await toRunOutcome(task), isError: true, facts: { ...base, status: "failed" } };
  const { text, isCut } = showAnswer(task, result, maxOutput);
  const { tokens, estimatedTokens, costUsd, llmCalls } = result.usage.total;
  return {
    text: joinParts(text, toOutcome(result)),
    isError: result.status === "failed" || result.status === "cancelled",
    facts: {
      ...base,
      status: result.status,
      stop_reason: result.stopReason,
      tokens,
      estimated_tokens: estimatedTokens,
      cost_usd: costUsd,
      llm_calls: llmCalls,
      truncated: isCut,
    },
    ...(isCut && { linkTo: task }),
  };
}

/** The run has ended. */
export async function toRunOutcome(task: RunTask): Promise<string> {
  const result = await task.run.result.catch(() => undefined);
  return result === undefined ? toNote(`failed: ${shorten(task.info().why ?? "", MAX_WHY)}`) : toOutcome(result);
}

/** A truncated answer is read from the output of the task, which ends with the answer. */
function showAnswer(task: RunTask, { answer }: RunResult, maxOutput: number): { text: string; isCut: boolean } {
  if (answer === null) return { text: "", isCut: false };
  return truncateOutput(textSource(answer), {
    maxCharacters: Math.max(200, maxOutput - NOTE_CHARACTERS),
    hint: (offset) => toReadOn(task, task.answerOffset + offset),
  });
}

/** Status and usage. */
function toOutcome({ status, why, usage }: RunResult): string {
  const { tokens, costUsd, llmCalls, cachedCalls } = usage.total;
  const how = status === "final" ? "" : why === null ? status : `${status}: ${shorten(why, MAX_WHY)}`;
  const calls = formatCount(llmCalls, "call");
  return toNote(
    how,
    formatCount(tokens, "token"),
    formatCost(costUsd),
    cachedCalls === 0 ? calls : `${calls}, ${cachedCalls} from the cache`,
    formatSeconds(usage.wallMs),
  );
}
