// What a terminal would show in the end of what was written to it, as plain text for a reader that has no terminal.
//
// A progress bar is its last state: carriage return, backspace, erasing and small movements of the cursor are carried out
// on the lines written so far. Colours, links, titles and other control characters are left out. What only a screen of
// known size could show is not imitated: clearing the screen and going to a place on it lose nothing that was written.
//
// The text never gets longer, and takes time in proportion to its length, whatever it holds. That rests on the cursor
// never standing past the end of its line, so that there is never anything to fill.

import { TerminalParser } from "./terminal-parser.ts";

// oxlint-disable-next-line no-control-regex -- control characters are what this file is about
const TO_CLEAN = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;

export function cleanTerminalText(text: string): string {
  if (!TO_CLEAN.test(text)) return text;
  const lines = new Lines();
  new TerminalParser(lines).write(text);
  return lines.toText();
}

interface Line {
  /** A character each. One counts as one column: between states of a progress bar this makes no difference. */
  readonly cells: string[];
  isOverwritten: boolean;
}

class Lines {
  readonly #lines: Line[] = [{ cells: [], isOverwritten: false }];
  #line = this.#lines[0] as Line;
  #row = 0;
  #column = 0;

  text(characters: string): void {
    for (const character of characters) this.#write(character);
  }

  sequence(parameters: string, final: string): void {
    const count = /^\d{1,6}$/.test(parameters) ? Math.max(1, Number(parameters)) : 1;
    switch (final) {
      case "A":
        return this.#moveTo(this.#row - count, this.#column);
      case "B":
        return this.#moveTo(this.#row + count, this.#column);
      case "C":
        return this.#forward(count);
      case "D":
        return this.#moveTo(this.#row, this.#column - count);
      case "E":
        return this.#moveTo(this.#row + count, 0);
      case "F":
        return this.#moveTo(this.#row - count, 0);
      case "G":
        return this.#moveTo(this.#row, count - 1);
      case "J":
        return this.#eraseBelow(parameters);
      case "K":
        return this.#eraseInLine(parameters);
    }
  }

  /** Blanks at the end of a line that was written over are what erased something longer. */
  toText(): string {
    return this.#lines
      .map(({ cells, isOverwritten }) => (isOverwritten ? cells.join("").trimEnd() : cells.join("")))
      .join("\n");
  }

  #write(character: string): void {
    if (character === "\n") return this.#nextLine();
    if (character === "\r") return this.#moveTo(this.#row, 0);
    if (character === "\b") return this.#moveTo(this.#row, this.#column - 1);
    const { cells } = this.#line;
    if (this.#column < cells.length) this.#line.isOverwritten = true;
    cells[this.#column] = character;
    this.#column += 1;
  }

  #nextLine(): void {
    if (this.#row === this.#lines.length - 1) this.#lines.push({ cells: [], isOverwritten: false });
    this.#moveTo(this.#row + 1, 0);
  }

  #moveTo(row: number, column: number): void {
    this.#row = Math.min(Math.max(0, row), this.#lines.length - 1);
    this.#line = this.#lines[this.#row] as Line;
    this.#column = Math.min(Math.max(0, column), this.#line.cells.length);
  }

  /** Past the end it is one blank, so that words stay apart. */
  #forward(count: number): void {
    const isPastEnd = this.#column + count > this.#line.cells.length;
    this.#moveTo(this.#row, this.#column + count);
    if (isPastEnd) this.#write(" ");
  }

  #eraseInLine(parameters: string): void {
    if (parameters !== "" && parameters !== "0" && parameters !== "2") return;
    if (parameters === "2") this.#column = 0;
    this.#line.cells.length = this.#column;
  }

  #eraseBelow(parameters: string): void {
    if (parameters !== "" && parameters !== "0") return;
    this.#line.cells.length = this.#column;
    this.#lines.length = this.#row + 1;
  }
}
