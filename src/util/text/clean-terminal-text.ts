// Terminal output as plain text: what a terminal would show in the end, such as the last state of a progress bar.
//
// Applies carriage return, backspace, erasing and small cursor movements; removes all other control sequences. Ignores commands
// that need a screen of known size, which loses no text. The result is never longer than the input, and the time is linear,
// because the cursor never moves past the end of its line.

import { TerminalParser } from "./terminal-parser.ts";

// oxlint-disable-next-line no-control-regex -- finds control characters
const TO_CLEAN = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;

export function cleanTerminalText(text: string): string {
  if (!TO_CLEAN.test(text)) return text;
  const lines = new Lines();
  new TerminalParser(lines).write(text);
  return lines.toText();
}

interface Line {
  /** One character per cell and column; exact enough for progress bars. */
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

  /** Trailing blanks of an overwritten line only erased longer text. */
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

  /** A movement past the end becomes one blank, so that words stay apart. */
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
