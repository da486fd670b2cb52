// Answers a question with small material by a single model call, without a session.

import { readFile } from "node:fs/promises";
import type { ContextItem } from "../context/context.ts";
import type { Account } from "../ledger/account.ts";
import { LimitReached } from "../ledger/limit-reached.ts";
import { askModel } from "./queries.ts";
import { reportNode, type NodeOutcome, type RunContext } from "../run-context.ts";

export function isSmall(context: readonly ContextItem[], maxBytes: number): boolean {
  return (
    context.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes && context.every(({ kind }) => kind !== "bytes")
  );
}

export function answerDirectly(run: RunContext, account: Account, signal: AbortSignal): Promise<NodeOutcome> {
  const { query, context, model } = run.settings;
  const node = { id: account.nodeId, parentId: null, depth: 0, query, model, context, account };
  return reportNode(run, node, () => ask(run, account, signal).catch((error: unknown) => toUnanswered(signal, error)));
}

async function ask(run: RunContext, account: Account, signal: AbortSignal): Promise<NodeOutcome> {
  const { query, context, model, schema, patterns } = run.settings;
  const material = await Promise.all(context.map(toText));
  const prompt = [...material, query].join("\n\n");
  let ordinal = 0;
  const { reply, data, problem } = await askModel(
    { prompt, schema },
    {
      modelCalls: run.modelCalls,
      strategyOf: run.settings.strategyOf,
      defaultModel: model,
      purpose: "direct",
      patterns,
      nodeId: account.nodeId,
      account,
      nextPosition: () => ({ step: 1, ordinal: ++ordinal }),
      signal,
    },
  );
  const answer = reply.text.trim();
  const stopReason = reply.finishReason === "length" ? "tokens" : "error";
  if (answer === "" && problem !== undefined) return { status: "failed", stopReason, answer: null, why: problem.why };
  if (problem !== undefined) return { status: "partial", stopReason, answer, why: problem.why };
  if (reply.finishReason === "length")
    return { status: "partial", stopReason, answer, why: "the answer was cut off at its length limit" };
  return { status: "final", stopReason: "answered", answer, ...(schema !== undefined && { data }), why: null };
}

function toUnanswered(signal: AbortSignal, error: unknown): NodeOutcome {
  const limit: unknown = signal.aborted ? signal.reason : error;
  if (limit instanceof LimitReached)
    return { status: "failed", stopReason: limit.axis, answer: null, why: limit.message };
  if (signal.aborted) return { status: "cancelled", stopReason: "cancelled", answer: null, why: "it was cancelled" };
  return { status: "failed", stopReason: "error", answer: null, why: (error as Error).message };
}

async function toText({ name, value }: ContextItem): Promise<string> {
  if (Array.isArray(value)) {
    const files = await Promise.all(
      value.map(
        async (file: { name: string; path: string }) => `--- ${file.name} ---\n${await readFile(file.path, "utf8")}`,
      ),
    );
    return files.join("\n\n");
  }
  if ("text" in value) return value.text;
  if ("json" in value) return `${name} = ${JSON.stringify(value.json)}`;
  if ("file" in value) return readFile(value.file, "utf8");
  return "";
}
