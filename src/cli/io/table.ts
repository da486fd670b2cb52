// A table on stdout: columns as wide as their content, with a dimmed heading.
//
// On a terminal no line is wider than the terminal: columns of free text are truncated first, then optional columns are left out. Cells of
// the other columns, such as ids, are always whole.

import { textWidth, truncateToWidth } from "../../util/text/text-width.ts";
import { outputPalette } from "./palette.ts";

export interface Column {
  readonly title: string;
  /** Of free text: the width that it keeps when it is truncated. Absent: its cells are never truncated. */
  readonly least?: number;
  /** Whether it is left out where there is no room: the column with the lowest number first. Absent: never. */
  readonly leftOut?: number;
}

interface Sized {
  readonly column: Column;
  readonly cells: readonly string[];
  width: number;
}

const GAP = "  ";

/** Cells must be single lines without control characters. Ends with a newline. */
export function toTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth = terminalWidth(),
): string {
  const palette = outputPalette();
  const shown = fit(
    columns.map((column, at): Sized => {
      const cells = [column.title, ...rows.map((row) => row[at] ?? "")];
      return { column, cells, width: Math.max(...cells.map(textWidth)) };
    }),
    maxWidth,
  );
  const lines = Array.from({ length: rows.length + 1 }, (_, at) => {
    const line = shown.map(({ cells, width }) => padTo(cells[at] ?? "", width)).join(GAP);
    return palette.paint(at === 0 ? "quiet" : undefined, line.trimEnd());
  });
  return `${lines.join("\n")}\n`;
}

/** Infinity where stdout is no terminal: programs want whole cells. */
export function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Infinity;
}

function fit(all: readonly Sized[], maxWidth: number): readonly Sized[] {
  for (let shown = all; ;) {
    const tooWide = totalWidth(shown) - maxWidth;
    if (tooWide <= 0 || shown.reduce((sum, one) => sum + slack(one), 0) >= tooWide) return shrink(shown, tooWide);
    const [next] = shown
      .filter(({ column }) => column.leftOut !== undefined)
      .toSorted((one, other) => (one.column.leftOut ?? 0) - (other.column.leftOut ?? 0));
    if (next === undefined) return shrink(shown, tooWide);
    shown = shown.filter((one) => one !== next);
  }
}

/** Takes from the widest column of free text first. */
function shrink(shown: readonly Sized[], tooWide: number): readonly Sized[] {
  for (let left = tooWide; left > 0; left -= 1) {
    const [widest] = shown.filter((one) => slack(one) > 0).toSorted((one, other) => other.width - one.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return shown;
}

function slack({ column: { least }, width }: Sized): number {
  return least === undefined ? 0 : Math.max(0, width - least);
}

function totalWidth(shown: readonly Sized[]): number {
  return shown.reduce((sum, { width }) => sum + width, 0) + GAP.length * (shown.length - 1);
}

function padTo(cell: string, width: number): string {
  const text = truncateToWidth(cell, width);
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}
