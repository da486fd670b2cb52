// What rows used, added up.

import type { OutlineSpan } from "../../state/runs/run-source.ts";

export interface Sums {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of what has a known price. */
  readonly pricedUsd: number;
  /** Ended model calls without a known price. */
  readonly unpriced: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly codeBlocks: number;
  readonly nodes: number;
  readonly failures: number;
  readonly waits: number;
  readonly waitMs: number;
}

export const NO_SUMS: Sums = {
  inputTokens: 0,
  outputTokens: 0,
  pricedUsd: 0,
  unpriced: 0,
  modelCalls: 0,
  toolCalls: 0,
  codeBlocks: 0,
  nodes: 0,
  failures: 0,
  waits: 0,
  waitMs: 0,
};

export function sumsOfSpan(span: OutlineSpan): Sums {
  const isModel = span.kind === "model";
  return {
    inputTokens: span.inputTokens,
    outputTokens: span.outputTokens,
    pricedUsd: span.costUsd ?? 0,
    unpriced: isModel && span.endedAt !== null && span.costUsd === null ? 1 : 0,
    modelCalls: isModel ? 1 : 0,
    toolCalls: span.kind === "tool" ? 1 : 0,
    codeBlocks: span.kind === "code" ? 1 : 0,
    nodes: 0,
    failures: span.ok === false ? 1 : 0,
    waits: span.waits.length,
    waitMs: span.waits.reduce((sum, { delayMs }) => sum + delayMs, 0),
  };
}

export function addSums(a: Sums, b: Sums): Sums {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    pricedUsd: a.pricedUsd + b.pricedUsd,
    unpriced: a.unpriced + b.unpriced,
    modelCalls: a.modelCalls + b.modelCalls,
    toolCalls: a.toolCalls + b.toolCalls,
    codeBlocks: a.codeBlocks + b.codeBlocks,
    nodes: a.nodes + b.nodes,
    failures: a.failures + b.failures,
    waits: a.waits + b.waits,
    waitMs: a.waitMs + b.waitMs,
  };
}

export function tokensOf({ inputTokens, outputTokens }: Sums): number {
  return inputTokens + outputTokens;
}

/** Null: the price of something is not known. */
export function costOf({ pricedUsd, unpriced }: Sums): number | null {
  return unpriced > 0 ? null : pricedUsd;
}
