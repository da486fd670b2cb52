// Renders the editor: rows of text for the width of the terminal, and the position of the cursor.
//
// Control characters in the content are shown as replacement characters.

import { graphemeWidth, textWidth, toGraphemes, truncateToWidth } from "../../../util/text/text-width.ts";
import type { Editor } from "./editor.ts";
import type { Menu } from "./menu.ts";
import type { Palette } from "../../io/palette.ts";
import { tokenize, type Token, type TokenKind } from "./python-text.ts";

export interface Frame {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

export interface View {
  readonly prompt: string;
  /** The prompt of the second and later lines. */
  readonly continuation: string;
  readonly columns: number;
  readonly palette: Palette;
  readonly isCode: boolean;
  /** Hides the text. */
  readonly isSecret: boolean;
  /** The text is final: there is no suggestion. */
  readonly isLeft: boolean;
}

const TAB = "    ";
const MAX_MENU_ROWS = 6;
// oxlint-disable-next-line no-control-regex -- these must not reach the terminal
const CONTROL = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/;

export function createFrame(editor: Editor, view: View): Frame {
  const layout = new Layout(view.columns);
  const addPrompt = (prompt: string): void => layout.add(visible(prompt), (part) => view.palette.paint("prompt", part));
  addPrompt(view.prompt);
  const text = view.isSecret ? "" : editor.text;
  const cursor = Math.min(editor.cursor, text.length);
  for (const { start, end, colour } of runs(text, cursor, view.isCode ? tokenize(text) : [])) {
    if (start === cursor) layout.mark();
    for (const [index, line] of text.slice(start, end).split("\n").entries()) {
      if (index > 0) {
        layout.newRow();
        addPrompt(view.continuation);
      }
      layout.add(visible(line), (part) => view.palette.paint(colour, part));
    }
  }
  if (cursor === text.length) layout.mark();
  // Without colours a suggestion would look like text.
  if (view.palette.isOn && !view.isLeft && editor.suggestion !== undefined) {
    layout.add(visible(editor.suggestion), (part) => view.palette.paint("quiet", part));
  }
  return layout.finish(footer(editor, view));
}

interface Run {
  readonly start: number;
  readonly end: number;
  readonly colour: TokenKind | undefined;
}

/** The text in runs of one colour, split at the cursor. */
function* runs(text: string, cursor: number, tokens: readonly Token[]): Generator<Run> {
  let at = 0;
  function* upTo(end: number, colour?: TokenKind): Generator<Run> {
    if (at < cursor && cursor < end) {
      yield { start: at, end: cursor, colour };
      at = cursor;
    }
    if (at < end) yield { start: at, end, colour };
    at = end;
  }
  for (const { start, end, kind } of tokens) {
    yield* upTo(start);
    yield* upTo(end, kind);
  }
  yield* upTo(text.length);
}

/** The search, the hint or the menu. */
function footer(editor: Editor, { columns, palette }: View): string[] {
  if (editor.query !== undefined) {
    const label = editor.hasNoMatch ? "nothing found: " : "search: ";
    return [palette.paint("quiet", truncateToWidth(visible(label + editor.query), columns))];
  }
  if (editor.hint !== undefined) return [palette.paint("quiet", truncateToWidth(visible(editor.hint), columns))];
  return editor.menu === undefined ? [] : menuRows(editor.menu, columns, palette);
}

function menuRows({ matches, chosen }: Menu, columns: number, palette: Palette): string[] {
  const texts = matches.map((match) => truncateToWidth(visible(match), columns - 2));
  const width = Math.min(columns, Math.max(...texts.map(textWidth)) + 2);
  const perRow = Math.max(1, Math.floor(columns / width));
  const count = Math.ceil(texts.length / perRow);
  const first = Math.max(0, Math.min(Math.floor(chosen / perRow) - MAX_MENU_ROWS + 1, count - MAX_MENU_ROWS));
  const rows: string[] = [];
  for (let row = first; row < Math.min(count, first + MAX_MENU_ROWS); row += 1) {
    const cells = texts.slice(row * perRow, (row + 1) * perRow).map((text, index) => {
      const isChosen = row * perRow + index === chosen;
      return (isChosen ? palette.choose(text) : ` ${text} `) + " ".repeat(Math.max(0, width - textWidth(text) - 2));
    });
    rows.push(cells.join("").trimEnd());
  }
  const hidden = count - first - rows.length;
  if (hidden > 0 || first > 0) rows.push(palette.paint("quiet", `${texts.length} in all`));
  return rows;
}

function visible(text: string): string {
  if (!CONTROL.test(text)) return text;
  const safe = toGraphemes(text).map((one) => (one === "\t" ? TAB : CONTROL.test(one) ? "\uFFFD" : one));
  return safe.join("");
}

/** Wraps text into rows. */
class Layout {
  readonly #columns: number;
  readonly #rows: string[] = [""];
  #column = 0;
  #cursor = { row: 0, column: 0 };

  constructor(columns: number) {
    this.#columns = Math.max(2, columns);
  }

  add(text: string, paint: (part: string) => string): void {
    let piece = "";
    for (const grapheme of toGraphemes(text)) {
      const width = graphemeWidth(grapheme);
      if (this.#column + width > this.#columns) {
        this.#append(paint(piece));
        piece = "";
        this.newRow();
      }
      piece += grapheme;
      this.#column += width;
    }
    this.#append(paint(piece));
  }

  newRow(): void {
    this.#rows.push("");
    this.#column = 0;
  }

  mark(): void {
    if (this.#column >= this.#columns) this.newRow(); // the row is full
    this.#cursor = { row: this.#rows.length - 1, column: this.#column };
  }

  finish(below: readonly string[]): Frame {
    const { row, column } = this.#cursor;
    return { rows: [...this.#rows, ...below], cursorRow: row, cursorColumn: column };
  }

  #append(text: string): void {
    this.#rows[this.#rows.length - 1] += text;
  }
}
