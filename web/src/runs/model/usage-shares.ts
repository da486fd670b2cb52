// Tokens and cost by node, by model and by role: the largest, and the rest as one.

import type { RunOutline } from "../../state/runs/run-source.ts";
import { addSums, costOf, NO_SUMS, sumsOfSpan, tokensOf, type Sums } from "./sums.ts";

export interface Share {
  /** The id of a node, the name of a model or a role. Null: the rest. */
  readonly id: string | null;
  readonly label: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null: the price of something is not known. */
  readonly costUsd: number | null;
  readonly calls: number;
  /** Of all tokens, or of all that was paid, from 0 to 1. */
  readonly fraction: number;
}

export type Measure = "tokens" | "cost";

export const MAX_SHARES = 20;

export function sharesByModel({ spans }: RunOutline, measure: Measure): readonly Share[] {
  return shares(spans, measure, ({ name }) => ({ id: name, label: name }));
}

/** What models were asked for. */
export function sharesByRole({ spans, nodes }: RunOutline, measure: Measure): readonly Share[] {
  const roots = new Set(nodes.filter(({ parentId }) => parentId === null).map(({ id }) => id));
  return shares(spans, measure, ({ purpose, nodeId }) => {
    const role = purpose === "query" || purpose === "extract" ? purpose : roots.has(nodeId) ? "root" : "child";
    return { id: role, label: ROLES[role] };
  });
}

const ROLES = { root: "Root", child: "Nodes below", query: "llm_query", extract: "Last answer" };

export function sharesByNode({ spans, nodes }: RunOutline, measure: Measure): readonly Share[] {
  const queries = new Map(nodes.map(({ id, query }) => [id, query]));
  return shares(spans, measure, ({ nodeId }) => ({ id: nodeId, label: queries.get(nodeId) ?? "" }));
}

function shares(
  spans: RunOutline["spans"],
  measure: Measure,
  groupOf: (span: RunOutline["spans"][number]) => { id: string; label: string },
): readonly Share[] {
  const groups = new Map<string, { label: string; sums: Sums }>();
  let all = NO_SUMS;
  for (const span of spans) {
    if (span.kind !== "model") continue;
    const { id, label } = groupOf(span);
    const sums = sumsOfSpan(span);
    groups.set(id, { label, sums: addSums(groups.get(id)?.sums ?? NO_SUMS, sums) });
    all = addSums(all, sums);
  }
  const amountOf = measure === "tokens" ? tokensOf : ({ pricedUsd }: Sums): number => pricedUsd;
  const fractionOf = (sums: Sums): number => (amountOf(all) === 0 ? 0 : amountOf(sums) / amountOf(all));
  const sorted = [...groups].toSorted(([, a], [, b]) => amountOf(b.sums) - amountOf(a.sums));
  const isLong = sorted.length > MAX_SHARES + 1;
  const largest = sorted.slice(0, isLong ? MAX_SHARES : MAX_SHARES + 1);
  const rest = sorted.slice(largest.length);
  const result = largest.map(([id, { label, sums }]) => toShare(id, label, sums, fractionOf(sums)));
  if (rest.length === 0) return result;
  const sums = rest.reduce((sum, [, group]) => addSums(sum, group.sums), NO_SUMS);
  return [...result, toShare(null, `${rest.length} more`, sums, fractionOf(sums))];
}

function toShare(id: string | null, label: string, sums: Sums, fraction: number): Share {
  return {
    id,
    label,
    inputTokens: sums.inputTokens,
    outputTokens: sums.outputTokens,
    costUsd: costOf(sums),
    calls: sums.modelCalls,
    fraction,
  };
}
