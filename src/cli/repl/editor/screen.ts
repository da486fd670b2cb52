// Puts frames on a terminal, one over the other, as text to write. Remembers where the cursor was left.

import type { Frame } from "./frame.ts";

const ESC = "\u001B";

export class Screen {
  /** The row of the cursor, from the first row that is shown. */
  #row = 0;

  /** Of a frame that is higher than the terminal the part around the cursor is shown. */
  paint({ rows, cursorRow, cursorColumn }: Frame, height: number): string {
    const first = Math.max(0, Math.min(cursorRow - height + 2, rows.length - height));
    const shown = rows.slice(first, first + height);
    const row = cursorRow - first;
    const text = `${this.erase()}${shown.join("\r\n")}${up(shown.length - 1 - row)}\r${right(cursorColumn)}`;
    this.#row = row;
    return text;
  }

  /** The whole frame, and the cursor on the row below it: from here on the terminal is somebody else's. */
  leave({ rows }: Frame): string {
    return `${this.erase()}${rows.join("\r\n")}\r\n`;
  }

  /** The cursor where the frame began, and nothing below it. */
  erase(): string {
    const text = `\r${up(this.#row)}${ESC}[J`;
    this.#row = 0;
    return text;
  }

  clear(): string {
    this.#row = 0;
    return `${ESC}[H${ESC}[2J`;
  }

  /** The terminal was resized and has broken the rows anew: so the cursor is on this row now. */
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
