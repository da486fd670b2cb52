// Tells a model what became of the calls that its code made: code often drops failures, or takes half of an answer for the whole.
//
// The same calls give the same words, without times, so that repeated runs are answered from the cache.

import type { Strategy } from "../../protocol/strategy/strategy.ts";
import { formatCount } from "../../util/text/format.ts";
import { shorten } from "../../util/text/shorten.ts";
import type { BlockCalls } from "./call-tally.ts";

const MAX_ERROR = 200;

export function callNotes(calls: BlockCalls, notes: Strategy["notes"]): readonly string[] {
  const { total, failed, cut, degraded, sequential } = calls;
  const found: string[] = [];
  // A single failure is an exception, which the model sees.
  if (notes.failedCalls && failed.length > 0 && total > 1) found.push(describeFailed(calls));
  if (notes.cutAnswers && cut > 0) {
    found.push(`${cut} of ${formatCount(total, "answer")} ${are(cut)} cut off at the limit of tokens: see .truncated`);
  }
  if (notes.degraded && degraded > 0) {
    found.push(
      `${formatCount(degraded, "task")} of rlm_query had a single model call: children may not be nested deeper`,
    );
  }
  if (notes.sequentialCalls > 0 && sequential > notes.sequentialCalls) {
    found.push(
      `${formatCount(sequential, "call")} were made one after the other: llm_query_batched(prompts) makes them at once`,
    );
  }
  return found;
}

function describeFailed({ total, failed, firstError = "" }: BlockCalls): string {
  const count = failed.reduce((sum, kind) => sum + kind.count, 0);
  const kinds = failed.map(({ kind, count: times, isRetryable }) => {
    return `${failed.length > 1 ? `${times} ` : ""}${shorten(kind, 40)}${isRetryable ? " (may be asked again)" : ""}`;
  });
  return `${count} of ${formatCount(total, "model call")} failed: ${kinds.join(", ")}. The first: ${quote(firstError)}`;
}

/** On one line, whatever the provider said. */
function quote(text: string): string {
  return JSON.stringify(shorten(text, MAX_ERROR)).replaceAll(/[\u007F-\u009F\u2028\u2029]/g, " ");
}

function are(count: number): string {
  return count === 1 ? "is" : "are";
}
