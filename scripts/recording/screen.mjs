/* oxlint-disable no-control-regex -- control characters are what a terminal is about */
// As much of a terminal as our programs and a shell use: colours, moving the cursor, erasing. Rows that scroll away are kept.

const PLAIN = { colour: null, bold: false, dim: false, inverse: false };
const PARTS =
  /\u001B\[[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B[_P][^\u001B]*\u001B\\|\u001B[()][A-Z0-9]|\u001B[=>78cM]|[\r\n\b\t\u0007]|\u001B[^]*$|[^\u001B\r\n\b\t\u0007]/gu;

export class Screen {
  /** All rows, from the first that scrolled away: cells of `{ text, style }`, with holes where nothing was written. */
  lines = [[]];
  /** The row that is at the top of the window. */
  top = 0;
  row = 0;
  column = 0;
  isCursorShown = true;
  #style = PLAIN;
  #rest = "";

  constructor(columns, rows) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text) {
    const all = this.#rest + text;
    this.#rest = "";
    for (const [part] of all.matchAll(PARTS)) {
      if (part === "\r") this.column = 0;
      else if (part === "\n") this.#down();
      else if (part === "\b") this.column = Math.max(0, this.column - 1);
      else if (part === "\t") this.column = Math.min(this.columns - 1, (Math.floor(this.column / 8) + 1) * 8);
      else if (part === "\u0007") continue;
      else if (!part.startsWith("\u001B")) this.#print(part);
      else if (/^\u001B\[.*[@-~]$/s.test(part)) this.#command(part);
      else if (!/^\u001B(?:[\]_P].*(?:\u0007|\u001B\\)|[()].|[=>78cM])$/s.test(part)) this.#rest = part;
    }
  }

  /** What is shown, without empty rows at the end. */
  get text() {
    return this.lines
      .map((cells) => textOf(cells))
      .join("\n")
      .trimEnd();
  }

  get textBeforeCursor() {
    return Array.from({ length: this.column }, (_, index) => this.lines[this.row]?.[index]?.text ?? " ").join("");
  }

  #print(character) {
    if (this.column >= this.columns) {
      this.column = 0;
      this.#down();
    }
    this.#line()[this.column] = { text: character, style: this.#style };
    this.column += 1;
  }

  #down() {
    this.row += 1;
    this.#line();
    this.top = Math.max(this.top, this.row - this.rows + 1);
  }

  #line() {
    while (this.lines.length <= this.row) this.lines.push([]);
    return this.lines[this.row];
  }

  #command(part) {
    const final = part.at(-1);
    const numbers = part
      .slice(2, -1)
      .replace(/^[?>=<]/, "")
      .split(";")
      .map(Number);
    const count = Math.max(1, numbers[0]);
    if (final === "m") this.#style = numbers.length === 0 ? PLAIN : applyStyle(this.#style, numbers);
    else if (final === "A") this.row = Math.max(this.top, this.row - count);
    else if (final === "B") this.row = Math.min(this.top + this.rows - 1, this.row + count);
    else if (final === "C") this.column = Math.min(this.columns - 1, this.column + count);
    else if (final === "D") this.column = Math.max(0, this.column - count);
    else if (final === "G") this.column = count - 1;
    else if (final === "H") {
      this.row = this.top + count - 1;
      this.column = Math.max(1, numbers[1] ?? 1) - 1;
    } else if (final === "K") this.#eraseInLine(numbers[0]);
    else if (final === "J") this.#erase(numbers[0]);
    else if (part === "\u001B[?25l") this.isCursorShown = false;
    else if (part === "\u001B[?25h") this.isCursorShown = true;
  }

  #eraseInLine(which) {
    const line = this.#line();
    if (which === 0) line.length = Math.min(line.length, this.column);
    else if (which === 1) line.fill(undefined, 0, this.column + 1);
    else line.length = 0;
  }

  #erase(which) {
    if (which === 0) {
      this.#eraseInLine(0);
      this.lines.length = this.row + 1;
    } else {
      // What was shown scrolls away, so that it can still be drawn where it was.
      const offset = this.row - this.top;
      this.top = this.lines.length;
      this.row = this.top + offset;
      this.#line();
    }
  }
}

function textOf(cells) {
  return Array.from(cells, (cell) => cell?.text ?? " ")
    .join("")
    .trimEnd();
}

function applyStyle(style, numbers) {
  let now = style;
  for (let index = 0; index < numbers.length; index += 1) {
    const number = numbers[index];
    if (number === 0) now = PLAIN;
    else if (number === 1) now = { ...now, bold: true };
    else if (number === 2) now = { ...now, dim: true };
    else if (number === 7) now = { ...now, inverse: true };
    else if (number === 22) now = { ...now, bold: false, dim: false };
    else if (number === 27) now = { ...now, inverse: false };
    else if (number >= 30 && number <= 37) now = { ...now, colour: number - 30 };
    else if (number >= 90 && number <= 97) now = { ...now, colour: number - 82 };
    else if (number === 39) now = { ...now, colour: null };
    else if (number === 38 && numbers[index + 1] === 5) {
      now = { ...now, colour: numbers[index + 2] < 16 ? numbers[index + 2] : null };
      index += 2;
    } else if (number === 38 || number === 48) index += numbers[index + 1] === 2 ? 4 : 2;
  }
  return now;
}
