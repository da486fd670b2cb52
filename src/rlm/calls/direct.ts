// Answers a question with small material by a single model call, without a session.

import { BackendConnectionError } from "../../errors.ts";
import type { ContextItem } from "../context/context-item.ts";
import { contextText, contextTextBytes } from "../context/context-text.ts";
import type { Account } from "../ledger/account.ts";
import { LimitReached } from "../ledger/limit-reached.ts";
import type { NodeOutcome, RunContext } from "../run-context.ts";
import type { CallPosition } from "./model-calls.ts";
import { askModel } from "./queries.ts";

/** No limit of ours cuts an answer off so early. */
const LEAST_TOKENS = 256;

export function isSmall(context: readonly ContextItem[], maxBytes: number): boolean {
  const bytes = context.reduce((sum, item) => sum + contextTextBytes(item), 0);
  return bytes <= maxBytes && context.every(({ kind }) => kind !== "bytes");
}

export interface DirectOptions {
  readonly account: Account;
  readonly nextPosition: () => CallPosition;
  readonly signal: AbortSignal;
  /** Whether a session can take over where the model's window is too small. */
  readonly hasSession: boolean;
}

/** Undefined: the window is too small, which only a session can help. */
export async function answerDirectly(run: RunContext, options: DirectOptions): Promise<NodeOutcome | undefined> {
  try {
    return await ask(run, options);
  } catch (error) {
    const { signal, hasSession } = options;
    const isTooLong = error instanceof BackendConnectionError && error.fault === "context-too-long";
    return hasSession && isTooLong && !signal.aborted ? undefined : toUnanswered(signal, error);
  }
}

async function ask(run: RunContext, options: DirectOptions): Promise<NodeOutcome | undefined> {
  const { query, context, model, schema, patterns, strategyOf } = run.settings;
  const { account, nextPosition, signal, hasSession } = options;
  const material = await Promise.all(context.map(contextText));
  const prompt = [...material, query].join("\n\n");
  if (hasSession && !(await run.modelCalls.fitsWindow(model, prompt))) return undefined;
  const { reply, data, problem } = await askModel(
    { prompt, schema },
    {
      modelCalls: run.modelCalls,
      strategyOf,
      defaultModel: model,
      purpose: "direct",
      patterns,
      nodeId: account.nodeId,
      account,
      nextPosition,
      signal,
    },
  );
  const answer = reply.text.trim();
  const isCut = reply.finishReason === "length";
  // Some servers fill their window and stop there.
  if (hasSession && isCut && !account.isSpendingLimited && reply.usage.outputTokens < LEAST_TOKENS) return undefined;
  const stopReason = isCut ? "tokens" : "error";
  if (answer === "" && problem !== undefined) return { status: "failed", stopReason, answer: null, why: problem.why };
  if (problem !== undefined) return { status: "partial", stopReason, answer, why: problem.why };
  if (isCut) return { status: "partial", stopReason, answer, why: "the answer was cut off at its length limit" };
  return { status: "final", stopReason: "answered", answer, ...(schema !== undefined && { data }), why: null };
}

function toUnanswered(signal: AbortSignal, error: unknown): NodeOutcome {
  const limit: unknown = signal.aborted ? signal.reason : error;
  if (limit instanceof LimitReached)
    return { status: "failed", stopReason: limit.axis, answer: null, why: limit.message };
  if (signal.aborted) return { status: "cancelled", stopReason: "cancelled", answer: null, why: "it was cancelled" };
  return { status: "failed", stopReason: "error", answer: null, why: (error as Error).message };
}
