/* oxlint-disable no-control-regex -- terminals are controlled by these characters */
// The tree of a run as rows that fit the terminal.
//
// Where a row is too narrow, the question gives way first, then tokens, step, cost and time. The state stays.

import { toTerminalText } from "../../util/text/terminal-text.ts";
import { textWidth, truncateToWidth } from "../../util/text/text-width.ts";
import { formatCost, formatCount, formatSeconds, formatTokens } from "../../util/text/format.ts";
import type { RunStatus } from "../../protocol/runs.ts";
import type { NodeProgress, Progress } from "./progress.ts";
import { describeBudget, describeState, describeWaiting } from "./describe.ts";

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

const MAX_INDENT = 12;
/** A question that has less space is left out. */
const MIN_QUESTION = 8;
const BETWEEN = " · ";

/**
 * `now` is in milliseconds since the epoch. If space is short, nodes that run take precedence over those that ended. `summary` takes
 * the place of the totals.
 */
export function toFrame(progress: Progress, now: number, size: FrameSize, summary?: readonly string[]): string[] {
  const columns = size.columns - 1;
  const footer = summary === undefined ? toFooter(progress, now, columns) : wrapParts(summary, columns);
  const all = progress.inOrder();
  const shown = choose(all, Math.max(1, size.rows - 1 - footer.length));
  const lines = shown.map((node) => toRow(node, now, columns));
  if (shown.length < all.length) lines.push(fit(`… ${all.length - shown.length} more nodes`, columns));
  return [...lines, ...footer];
}

function toFooter(progress: Progress, now: number, columns: number): string[] {
  const { tokens, costUsd, llmCalls } = progress.total;
  const facts = [
    formatCount(llmCalls, "call"),
    formatTokens(tokens),
    formatCost(costUsd),
    formatSeconds(now - progress.startedAt),
    describeBudget(progress, now),
  ];
  const rows = [describeWaiting(progress.waiting(now)), ...wrapParts(facts, columns)];
  return rows.filter((row) => row !== "").map((row) => fit(row, columns));
}

/** As many rows as it takes. A part is never cut. */
function wrapParts(parts: readonly string[], columns: number): string[] {
  const rows: string[] = [];
  for (const part of parts.filter((one) => one !== "").map((one) => fit(one, Infinity))) {
    const longer = `${rows.at(-1) ?? ""}${BETWEEN}${part}`;
    if (rows.length > 0 && textWidth(longer) <= columns) rows[rows.length - 1] = longer;
    else rows.push(part);
  }
  return rows;
}

/** Keeps the order. */
function choose(nodes: readonly NodeProgress[], most: number): readonly NodeProgress[] {
  if (nodes.length <= most) return nodes;
  const count = Math.max(1, most - 1); // one row says how many are missing
  const byWeight = nodes.toSorted((a, b) => weight(a) - weight(b) || b.startedAt - a.startedAt);
  const chosen = new Set(byWeight.slice(0, count));
  return nodes.filter((node) => chosen.has(node));
}

function weight({ depth, status }: NodeProgress): number {
  if (depth === 0) return 0;
  return status === null ? 1 : 2;
}

function toRow(node: NodeProgress, now: number, columns: number): string {
  const { depth, id, step, usage, startedAt, endedAt, query, status } = node;
  const mark = status === null ? "▸" : MARKS[status];
  const facts = new Map([
    ["step", step > 0 ? `step ${step}` : ""],
    ["tokens", formatTokens(usage.tokens)],
    ["cost", formatCost(usage.costUsd)],
    ["time", formatSeconds((endedAt ?? now) - startedAt)],
  ]);
  const state = `${"  ".repeat(Math.min(depth, MAX_INDENT))}${mark} ${id} ${describeState(node)}`;
  const toText = (): string => [state, ...facts.values()].filter((fact) => fact !== "").join(BETWEEN);
  for (const name of ["tokens", "step", "cost", "time"]) if (textWidth(toText()) > columns) facts.delete(name);
  const text = toText();
  return fit(columns - textWidth(text) - 2 < MIN_QUESTION ? text : `${text}  ${query}`, columns);
}

const MARKS: Readonly<Record<RunStatus, string>> = { final: "✓", partial: "~", failed: "✗", cancelled: "✗" };

/** One row without terminal commands, truncated to the columns. */
export function fit(text: string, columns: number): string {
  const line = toTerminalText(text.slice(0, 4 * columns + 200))
    .replaceAll(/\u001B\[[\d;:]*m/g, "")
    .replaceAll(/\s+(?=\S)/g, (space) => (/[\n\r\t\b]/.test(space) ? " " : space))
    .replaceAll(/[\p{Cc}]/gu, "");
  return truncateToWidth(line.trimEnd(), columns);
}
