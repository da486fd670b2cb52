// Text of several lines with a cursor: movement, edits, undo and a kill ring.
//
// The cursor is always between graphemes. Control characters other than newline and tab are removed.

import { textWidth, toGraphemes } from "../../../util/text/text-width.ts";

interface Snapshot {
  readonly text: string;
  readonly cursor: number;
}

const MAX_UNDO = 500;
const MAX_KILLED = 30;
const MAX_TEXT = 16 * 1024 * 1024;
// oxlint-disable-next-line no-control-regex -- these are removed
const UNWANTED = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029]/g;
const WORD = /[\p{L}\p{M}\p{N}_]/u;

export class TextBuffer {
  #text = "";
  #cursor = 0;
  readonly #undo: Snapshot[] = [];
  #redo: Snapshot[] = [];
  readonly #killed: string[] = [];
  /** The column that Up and Down keep. */
  #column: number | undefined;
  /** The last change: consecutive typing is one undo step, consecutive kills are one entry to yank. */
  #last: "type" | "kill" | "yank" | undefined;
  #yanked = { start: 0, index: 0 };

  get text(): string {
    return this.#text;
  }

  get cursor(): number {
    return this.#cursor;
  }

  get lineStart(): number {
    return this.#text.lastIndexOf("\n", this.#cursor - 1) + 1;
  }

  get lineEnd(): number {
    return this.#lineEndFrom(this.#cursor);
  }

  get isOnFirstLine(): boolean {
    return this.lineStart === 0;
  }

  get isOnLastLine(): boolean {
    return this.lineEnd === this.#text.length;
  }

  /** The part of the line before the cursor. */
  get lineBefore(): string {
    return this.#text.slice(this.lineStart, this.#cursor);
  }

  /** Replaces the text as one change. */
  replaceAll(text: string): void {
    this.#change(0, this.#text.length, clean(text));
  }

  insert(text: string, isTyped = false): void {
    const isSameStep = isTyped && this.#last === "type" && text !== "\n";
    this.#change(this.#cursor, this.#cursor, clean(text), isSameStep);
    if (isTyped) this.#last = "type";
  }

  replace(start: number, end: number, text: string): void {
    this.#change(start, end, clean(text));
  }

  left(): void {
    this.#move(this.#boundaryBefore(this.#cursor));
  }

  right(): void {
    this.#move(this.#boundaryAfter(this.#cursor));
  }

  wordLeft(): void {
    this.#move(this.#wordStart());
  }

  wordRight(): void {
    this.#move(this.#wordEnd());
  }

  home(): void {
    const indent = /^[ \t]*/.exec(this.#text.slice(this.lineStart, this.lineEnd))?.[0].length ?? 0;
    // The last blank may be the base of a combining character, which is code then.
    const code = this.#boundaryBefore(this.lineStart + indent + 1);
    this.#move(this.#cursor === code ? this.lineStart : code);
  }

  end(): void {
    this.#move(this.lineEnd);
  }

  toStart(): void {
    this.#move(0);
  }

  toEnd(): void {
    this.#move(this.#text.length);
  }

  up(): void {
    if (this.isOnFirstLine) return;
    const column = (this.#column ??= textWidth(this.lineBefore));
    const start = this.#text.lastIndexOf("\n", this.lineStart - 2) + 1;
    this.#moveToColumn(start, this.lineStart - 1, column);
  }

  down(): void {
    if (this.isOnLastLine) return;
    const column = (this.#column ??= textWidth(this.lineBefore));
    const start = this.lineEnd + 1;
    this.#moveToColumn(start, this.#lineEndFrom(start), column);
  }

  /** Deletes `count` characters before the cursor, or one grapheme. */
  backspace(count = 1): void {
    const start = count > 1 ? this.#cursor - count : this.#boundaryBefore(this.#cursor);
    if (this.#cursor > 0) this.#change(start, this.#cursor, "");
  }

  delete(): void {
    if (this.#cursor < this.#text.length) this.#change(this.#cursor, this.#boundaryAfter(this.#cursor), "");
  }

  killToEnd(): void {
    this.#kill(this.#cursor, this.#cursor === this.lineEnd ? this.#boundaryAfter(this.#cursor) : this.lineEnd);
  }

  killToStart(): void {
    this.#kill(this.#cursor === this.lineStart ? this.#boundaryBefore(this.#cursor) : this.lineStart, this.#cursor);
  }

  killWordLeft(): void {
    this.#kill(this.#wordStart(), this.#cursor);
  }

  killWordRight(): void {
    this.#kill(this.#cursor, this.#wordEnd());
  }

  yank(): void {
    const text = this.#killed.at(-1);
    if (text === undefined) return;
    this.#yanked = { start: this.#cursor, index: this.#killed.length - 1 };
    this.#change(this.#cursor, this.#cursor, text);
    this.#last = "yank";
  }

  /** After a yank: replaces it with the entry before. */
  yankOlder(): void {
    if (this.#last !== "yank") return;
    const { start, index } = this.#yanked;
    const older = index === 0 ? this.#killed.length - 1 : index - 1;
    this.#change(start, this.#cursor, this.#killed[older] ?? "", true);
    this.#yanked = { start, index: older };
    this.#last = "yank";
  }

  undo(): void {
    this.#step(this.#undo, this.#redo);
  }

  redo(): void {
    this.#step(this.#redo, this.#undo);
  }

  #step(from: Snapshot[], to: Snapshot[]): void {
    const snapshot = from.pop();
    if (snapshot === undefined) return;
    to.push({ text: this.#text, cursor: this.#cursor });
    this.#text = snapshot.text;
    this.#move(snapshot.cursor);
  }

  #kill(start: number, end: number): void {
    if (start === end) return;
    const text = this.#text.slice(start, end);
    const before = this.#last === "kill" ? (this.#killed.pop() ?? "") : "";
    this.#killed.push(end === this.#cursor ? text + before : before + text);
    if (this.#killed.length > MAX_KILLED) this.#killed.shift();
    this.#change(start, end, "");
    this.#last = "kill";
  }

  #change(start: number, end: number, text: string, isSameStep = false): void {
    if (this.#text.length - (end - start) + text.length > MAX_TEXT) return;
    if (!isSameStep) this.#undo.push({ text: this.#text, cursor: this.#cursor });
    if (this.#undo.length > MAX_UNDO) this.#undo.shift();
    this.#redo = [];
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#move(start + text.length);
    this.#snap();
  }

  #move(cursor: number): void {
    this.#cursor = cursor;
    this.#column = undefined;
    this.#last = undefined;
  }

  #moveToColumn(start: number, end: number, column: number): void {
    let at = start;
    let width = 0;
    for (const grapheme of toGraphemes(this.#text.slice(start, end))) {
      width += textWidth(grapheme);
      if (width > column) break;
      at += grapheme.length;
    }
    this.#move(at);
    this.#column = column;
  }

  /** Inserted text may combine with what follows: moves the cursor past the grapheme. */
  #snap(): void {
    const before = this.#boundaryBefore(this.#cursor + 1);
    if (before < this.#cursor) this.#cursor = this.#boundaryAfter(before);
  }

  #boundaryBefore(index: number): number {
    let found = 0;
    for (const at of this.#boundaries(index)) if (at < index) found = at;
    return found;
  }

  #boundaryAfter(index: number): number {
    for (const at of this.#boundaries(index)) if (at > index) return at;
    return this.#text.length;
  }

  /** The grapheme boundaries of the line at the index, ascending, including the one after its newline. */
  *#boundaries(index: number): Generator<number> {
    let at = this.#text.lastIndexOf("\n", Math.max(0, index - 2)) + 1;
    yield at;
    for (const grapheme of toGraphemes(this.#text.slice(at, this.#lineEndFrom(index) + 1))) {
      at += grapheme.length;
      yield at;
    }
  }

  #lineEndFrom(index: number): number {
    const end = this.#text.indexOf("\n", index);
    return end === -1 ? this.#text.length : end;
  }

  #wordStart(): number {
    let at = this.#cursor;
    while (at > 0 && !WORD.test(this.#text[at - 1] ?? "")) at -= 1;
    while (at > 0 && WORD.test(this.#text[at - 1] ?? "")) at -= 1;
    return this.#boundaryBefore(at + 1);
  }

  #wordEnd(): number {
    let at = this.#cursor;
    while (at < this.#text.length && !WORD.test(this.#text[at] ?? "")) at += 1;
    while (at < this.#text.length && WORD.test(this.#text[at] ?? "")) at += 1;
    return this.#boundaryAfter(at - 1);
  }
}

function clean(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(UNWANTED, "");
}
