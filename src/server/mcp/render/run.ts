// What a model is told of a run that has ended: the answer, and what it took.

import type { RunTask } from "../../../tasks/run-task.ts";
import type { RunResult } from "../../../protocol/runs.ts";
import type { Answer } from "./result.ts";
import { textSource } from "../../../util/bytes/byte-source.ts";
import { cutText } from "./cut-text.ts";
import { formatCost, formatCount, formatSeconds } from "../../../util/text/format.ts";
import { joinParts, toNote, toStatusCall } from "./format.ts";

/** Room for what is said after the answer. */
const NOTE_CHARACTERS = 600;
const MAX_WHY = 400;

/** Waits for an end that is not there yet. */
export async function toRunAnswer(task: RunTask, maxOutput: number): Promise<Answer> {
  await task.ended;
  const { durationMs } = task.info();
  const base = { task_id: task.id, run_id: task.run.id, kind: task.kind, duration_ms: Math.round(durationMs) };
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

/** Of one that has ended. */
export async function toRunOutcome(task: RunTask): Promise<string> {
  const result = await task.run.result.catch(() => undefined);
  return result === undefined ? toNote(`failed: ${shorten(task.info().why ?? "")}`) : toOutcome(result);
}

/** Whole where it fits; what is cut is read from the output of the task, which the answer is the end of. */
function showAnswer(task: RunTask, { answer }: RunResult, maxOutput: number): { text: string; isCut: boolean } {
  if (answer === null) return { text: "", isCut: false };
  return cutText(textSource(answer), {
    maxCharacters: Math.max(200, maxOutput - NOTE_CHARACTERS),
    readOn: (offset) => toStatusCall(task.id, { offset: task.answerOffset + offset }),
  });
}

/** How it ended, and what it took. */
function toOutcome({ status, why, usage }: RunResult): string {
  const { tokens, costUsd, llmCalls, cachedCalls } = usage.total;
  const how = status === "final" ? "" : why === null ? status : `${status}: ${shorten(why)}`;
  const calls = formatCount(llmCalls, "call");
  return toNote(
    how,
    formatCount(tokens, "token"),
    formatCost(costUsd),
    cachedCalls === 0 ? calls : `${calls}, ${cachedCalls} from the cache`,
    formatSeconds(usage.wallMs),
  );
}

function shorten(text: string): string {
  return text.length > MAX_WHY ? `${text.slice(0, MAX_WHY)}…` : text;
}
