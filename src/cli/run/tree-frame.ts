/* oxlint-disable no-control-regex -- terminals are controlled by these characters */
// The tree of a run as rows that fit the terminal.

import { toTerminalText } from "../../util/text/terminal-text.ts";
import { truncateToWidth } from "../../util/text/text-width.ts";
import { formatCost, formatCount, formatSeconds, formatTokens } from "../../util/text/format.ts";
import type { RunStatus } from "../../protocol/runs.ts";
import type { NodeProgress, Progress } from "./progress.ts";
import { describeState } from "./describe.ts";

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

const MAX_INDENT = 12;

/** `now` is in milliseconds since the epoch. If space is short, nodes that run take precedence over those that ended. */
export function toFrame(progress: Progress, now: number, { columns, rows }: FrameSize): string[] {
  const all = progress.inOrder();
  const shown = choose(all, Math.max(1, rows - 2));
  const lines = shown.map((node) => toRow(node, now));
  if (shown.length < all.length) lines.push(`… ${all.length - shown.length} more nodes`);
  const { tokens, costUsd, llmCalls } = progress.total;
  const elapsed = formatSeconds(now - progress.startedAt);
  lines.push(`${formatCount(llmCalls, "call")} · ${formatTokens(tokens)} · ${formatCost(costUsd)} · ${elapsed}`);
  return lines.map((line) => fit(line, columns - 1));
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

function toRow(node: NodeProgress, now: number): string {
  const { depth, id, step, usage, startedAt, endedAt, query, status } = node;
  const { tokens, costUsd } = usage;
  const mark = status === null ? "▸" : MARKS[status];
  const facts = [
    `${id} ${describeState(node)}`,
    ...(step > 0 ? [`step ${step}`] : []),
    formatTokens(tokens),
    formatCost(costUsd),
    formatSeconds((endedAt ?? now) - startedAt),
  ].join(" · ");
  return `${"  ".repeat(Math.min(depth, MAX_INDENT))}${mark} ${facts}  ${query}`;
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
