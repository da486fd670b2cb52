// Why a reply is no answer, although the call succeeded: the model refused, or its tokens ran out first.

import type { ModelUsage } from "../../protocol/usage.ts";
import { formatCount } from "../../util/text/format.ts";
import type { Reply } from "./model-calls.ts";

export interface ReplyProblem {
  readonly kind: "length" | "refusal" | "schema";
  readonly why: string;
}

/** Undefined: it is an answer. One that has text and was cut off at its limit counts as one. */
export function problemOf(reply: Reply): ReplyProblem | undefined {
  const isEmpty = reply.text.trim() === "";
  if (reply.finishReason === "refusal") {
    return { kind: "refusal", why: `the model or its provider refused to ${isEmpty ? "answer" : "go on"}` };
  }
  if (reply.finishReason !== "length" || !isEmpty) return undefined;
  return { kind: "length", why: `the model used all its ${tokens(reply)} without an answer` };
}

/** The answer does not follow its schema. Where it was cut off, that is the reason. */
export function schemaProblemOf(reply: Reply, problem: string): ReplyProblem {
  if (reply.finishReason !== "length") {
    return { kind: "schema", why: `the answer does not follow the schema: ${problem}` };
  }
  const why = `the answer was cut off at its limit of ${tokens(reply)}, so it does not follow the schema`;
  return { kind: "length", why };
}

function tokens({ usage: { outputTokens } }: { readonly usage: Pick<ModelUsage, "outputTokens"> }): string {
  return outputTokens > 0 ? formatCount(outputTokens, "token") : "tokens";
}
