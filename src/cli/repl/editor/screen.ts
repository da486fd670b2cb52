// Draws frames on a terminal in place of each other. Returns the text to write and tracks the row of the cursor.

import type { Frame } from "./frame.ts";

const ESC = "\u001B";

export class Screen {
  /** The row of the cursor, counted from the first visible row. */
  #row = 0;

  /** If the frame is higher than the terminal, draws the part around the cursor. */
  paint({ rows, cursorRow, cursorColumn }: Frame, height: number): string {
    const first = Math.max(0, Math.min(cursorRow - height + 2, rows.length - height));
    const shown = rows.slice(first, first + height);
    const row = cursorRow - first;
    const text = `${this.erase()}${shown.join("\r\n")}${up(shown.length - 1 - row)}\r${right(cursorColumn)}`;
    this.#row = row;
    return text;
  }

  /** Draws the whole frame and moves the cursor below it, so that output can follow. */
  leave({ rows }: Frame): string {
    return `${this.erase()}${rows.join("\r\n")}\r\n`;
  }

  /** Moves the cursor to the start of the frame and clears everything below. */
  erase(): string {
    const text = `\r${up(this.#row)}${ESC}[J`;
    this.#row = 0;
    return text;
  }

  clear(): string {
    this.#row = 0;
    return `${ESC}[H${ESC}[2J`;
  }

  /** The terminal was resized and wrapped the rows again: sets the row of the cursor. */
  moved(row: number): void {
    this.#row = row;
  }
}

function up(rows: number): string {
  return rows > 0 ? `${ESC}[${rows}A` : "";
}

function right(columns: number): string {
  return columns > 0 ? `${ESC}[${columns}C` : "";
}
