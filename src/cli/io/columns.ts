// A table on stdout: columns as wide as their content, with a dimmed heading.

import { textWidth } from "../../util/text/text-width.ts";
import { outputPalette } from "./palette.ts";

/** Cells must be single lines without control characters. Ends with a newline. */
export function toColumns(rows: readonly (readonly string[])[]): string {
  const palette = outputPalette();
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ""))));
  const lines = rows.map((row, at) => {
    const cells = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - textWidth(cell)));
    return palette.paint(at === 0 ? "quiet" : undefined, cells.join("  ").trimEnd());
  });
  return `${lines.join("\n")}\n`;
}
