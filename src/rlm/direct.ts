// A question whose material is small: one call of the model, which sees all of it.

import type { ContextItem } from "./context.ts";
import type { Account } from "./ledger.ts";
import { LimitReached } from "./limit-reached.ts";
import type { NodeOutcome } from "./node.ts";
import type { Run } from "./run.ts";
import { readFile } from "node:fs/promises";

/** About 8,000 tokens. */
const SMALL_BYTES = 32_000;

export function isSmall(context: readonly ContextItem[]): boolean {
  return (
    context.reduce((sum, { bytes }) => sum + bytes, 0) <= SMALL_BYTES && context.every(({ kind }) => kind !== "bytes")
  );
}

export async function answerDirectly({
  run,
  account,
  signal,
}: {
  readonly run: Run;
  readonly account: Account;
  readonly signal: AbortSignal;
}): Promise<NodeOutcome> {
  const { query, context, model } = run.settings;
  const nodeId = "n0";
  const sizes = context.map(({ name, kind, bytes }) => ({ name, kind, bytes }));
  run.teller.tell({
    type: "node-start",
    nodeId,
    parentId: null,
    depth: 0,
    query,
    model,
    context: sizes,
    isDegraded: false,
  });
  const outcome = await ask(run, account, signal);
  const { status, stopReason, answer } = outcome;
  run.teller.tell({ type: "node-end", nodeId, status, stopReason, answer, usage: account.spent() });
  return outcome;
}

async function ask(run: Run, account: Account, signal: AbortSignal): Promise<NodeOutcome> {
  const { query, context, model } = run.settings;
  try {
    const material = await Promise.all(context.map(toText));
    const content = [...material, query].join("\n\n");
    const reply = await run.calls.ask({
      nodeId: "n0",
      account,
      purpose: "direct",
      turn: 1,
      ordinal: 1,
      model,
      messages: [{ role: "user", content }],
      signal,
    });
    const isWhole = reply.finishReason !== "length";
    return {
      status: isWhole ? "final" : "partial",
      stopReason: isWhole ? "answered" : "tokens",
      answer: reply.text.trim(),
      why: isWhole ? null : "the answer was cut off at its length limit",
    };
  } catch (error) {
    if (error instanceof LimitReached)
      return { status: "failed", stopReason: error.axis, answer: null, why: error.message };
    if (signal.aborted && !run.isOutOfTime)
      return { status: "cancelled", stopReason: "cancelled", answer: null, why: "it was cancelled" };
    return {
      status: "failed",
      stopReason: run.isOutOfTime ? "wallMs" : "error",
      answer: null,
      why: (error as Error).message,
    };
  }
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
