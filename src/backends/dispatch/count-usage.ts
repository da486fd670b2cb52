// What a request used: as reported, else estimated.
//
// Servers that do not count report zeros. No request is without input, and no text without output: where there is none, it was not
// counted. Otherwise a limit on tokens, or on calls, would let everything pass.

import { toModelUsage, type ModelUsage, type ReportedUsage } from "../../protocol/usage.ts";
import type { InputUsagePart } from "../backend.ts";
import type { AnswerText } from "./answer-text.ts";
import type { Estimates } from "./call.ts";

export interface UsedByRequest {
  /** At the end. Null: it did not come. */
  readonly reported: ReportedUsage | null;
  /** Reported earlier. */
  readonly input: InputUsagePart["usage"] | null;
  readonly estimates: Estimates;
  readonly answer: AnswerText;
  /** The most that hidden reasoning can be. */
  readonly hiddenTokens: number;
  /** Infinity: none was set. */
  readonly maxTokens: number;
  /** The answer was cut where the model would have gone on. */
  readonly isCut: boolean;
}

/** What a model writes before it notices that the request is closed. */
const TOKENS_IN_TRANSIT = 32;
const NO_INPUT = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function countUsage(used: UsedByRequest): ModelUsage {
  const { reported, input, estimates, answer } = used;
  const counted = toModelUsage(reported ?? { ...(input ?? NO_INPUT), outputTokens: 0, reasoningTokens: 0 });
  const hasInput = counted.inputTokens > 0;
  const hasOutput = reported !== null && (counted.outputTokens > 0 || answer.length === 0);
  if (hasInput && hasOutput) return counted;
  const inputTokens = hasInput ? counted.inputTokens : estimates.inputTokens;
  const { outputTokens, reasoningTokens } = hasOutput ? counted : estimateOutput(used);
  const estimatedTokens = (hasInput ? 0 : inputTokens) + (hasOutput ? 0 : outputTokens);
  // A cost of nothing was not counted either.
  return toModelUsage({
    ...counted,
    inputTokens,
    outputTokens,
    reasoningTokens,
    estimatedTokens,
    costUsd: counted.costUsd || null,
  });
}

/** At most `maxTokens`, since a provider does not bill more, unless it ignored them. */
function estimateOutput({
  answer,
  estimates,
  hiddenTokens,
  maxTokens,
  isCut,
}: UsedByRequest): Pick<ModelUsage, "outputTokens" | "reasoningTokens"> {
  const { text, reasoning, afterCut, leastTokens } = answer;
  const most = leastTokens > maxTokens ? Infinity : maxTokens;
  const textTokens = estimates.tokensOf(text + afterCut);
  const reportedHidden = Number.isFinite(Math.min(hiddenTokens, most)) ? hiddenTokens : 0;
  const reasoned = Math.max(reportedHidden, estimates.tokensOf(reasoning) + estimates.hiddenTokens);
  const reasoningTokens = Math.min(Math.max(0, most - textTokens), reasoned);
  const inTransit = isCut ? TOKENS_IN_TRANSIT : 0;
  return { outputTokens: Math.min(most, textTokens + reasoningTokens + inTransit), reasoningTokens };
}
