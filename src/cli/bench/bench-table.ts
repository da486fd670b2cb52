// The results as rows of a table of 78 columns, which can be printed one by one.

import type { MeasureResult } from "./result.ts";

const WIDTHS = [24, 10, 10, 6, 9] as const;

export const HEADING = toRow(["WHAT", "OURS", "FLOOR", "RATIO", "USUAL", "VERDICT"]);

export const LEGEND = `Floor: a new Python (open), a pipe echo (execute), a plain Python (print,
interrupt), os.fork (fork, checkpoint), a new /bin/sh (shell). Ratio: ours to
the floor, in time.`;

export function toTableRow(result: MeasureResult): string {
  const { name, oursMs, floorMs, ratio, usual, verdict, error } = result;
  const toCell = (ms: number | null): string => (ms === null ? "-" : formatMeasured(ms, result.bytes));
  const bound = "ms" in usual ? `≤ ${usual.ms} ms` : `≤ ${usual.ratio} x`;
  const row = toRow([name, toCell(oursMs), toCell(floorMs), ratio === null ? "-" : toRatio(ratio), bound, verdict]);
  return error === undefined ? row : `${row}\n  ${error}`;
}

/** `24 us`, `1.1 ms`, `2.5 s`; with bytes a rate. */
function formatMeasured(ms: number, bytes: number | undefined): string {
  if (bytes !== undefined) {
    const rate = bytes / 1000 / ms;
    return rate < 10_000 ? `${toDigits(rate)} MB/s` : `${toDigits(rate / 1000)} GB/s`;
  }
  if (ms < 0.1) return `${toDigits(ms * 1000)} us`;
  return ms < 10_000 ? `${toDigits(ms)} ms` : `${toDigits(ms / 1000)} s`;
}

function toRatio(ratio: number): string {
  return ratio < 10_000 ? toDigits(ratio) : "> 9999";
}

/** Two or three digits that matter. */
function toDigits(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2);
}

function toRow(cells: readonly string[]): string {
  return cells
    .map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0))
    .join("  ")
    .trimEnd();
}
