// The editor: handles keys, edits its text and requests actions from its owner. Independent of terminals; `frame.ts` renders it.
//
// Enter submits what may be complete: a single line, a text that ends outside a block, or one that ends in an empty line.
// The session decides whether it is; if not, `addLine` continues it. Pasted text is only inserted.

import type { Key } from "./keys.ts";
import { Menu, commonStart, type Completions } from "./menu.ts";
import { backspaceWidth, indentAfter, isInBlock, looksOpen, tabText } from "./python-text.ts";
import { findSuggestion, firstWord } from "./suggestion.ts";
import { HistoryCursor, type HistorySearch } from "./history-cursor.ts";
import { TextBuffer } from "./text-buffer.ts";

/** What a key requests from the owner of the editor. */
export type EditorAction = "submit" | "cancel" | "end" | "complete" | "clear-screen" | "suspend";

export interface EditorOptions {
  /** `code`: several lines, history, completion. `line`: one line, as `input()` reads it. */
  readonly kind: "code" | "line";
  readonly history?: readonly string[];
}

export class Editor {
  readonly #kind: EditorOptions["kind"];
  readonly #buffer = new TextBuffer();
  readonly #entries: readonly string[];
  readonly #history: HistoryCursor;
  #search: { readonly state: HistorySearch; readonly before: string } | undefined;
  #menu: Menu | undefined;
  #hint: string | undefined;
  /** The text if it came from the history unchanged: Enter submits it as it is. */
  #recalled: string | undefined;
  /** Whether the last change was typed: there are no suggestions for text that was pasted or recalled. */
  #isTyped = false;

  constructor({ kind, history = [] }: EditorOptions) {
    this.#kind = kind;
    this.#entries = kind === "code" ? history : [];
    this.#history = new HistoryCursor(history);
  }

  get text(): string {
    return this.#buffer.text;
  }

  get cursor(): number {
    return this.#buffer.cursor;
  }

  get menu(): Menu | undefined {
    return this.#menu;
  }

  /** Shown until the next key. */
  get hint(): string | undefined {
    return this.#hint;
  }

  /** How an entry of the history continues the line. Undefined: no suggestion. */
  get suggestion(): string | undefined {
    const isOffered = this.#isTyped && this.#menu === undefined && this.#search === undefined;
    return isOffered && this.cursor === this.text.length ? findSuggestion(this.#entries, this.text) : undefined;
  }

  /** The query of the search; undefined: no search. */
  get query(): string | undefined {
    return this.#search?.state.query;
  }

  /** Whether the search found nothing. */
  get hasNoMatch(): boolean {
    return this.#search !== undefined && this.#search.state.query !== "" && this.#search.state.found === undefined;
  }

  press(key: Key): EditorAction | undefined {
    if (key.kind === "report") return undefined;
    this.#hint = undefined;
    if (this.#search !== undefined && this.#pressInSearch(key)) return undefined;
    if (this.#menu !== undefined && this.#pressInMenu(key)) return undefined;
    if (key.kind === "key") return this.#pressKey(key.name);
    const text = this.#kind === "line" ? key.text.replaceAll(/[\r\n]+/g, " ") : key.text;
    this.#buffer.insert(text, key.kind === "text");
    this.#touch();
    this.#isTyped = key.kind === "text";
    return undefined;
  }

  /** The code is incomplete: adds a line. */
  addLine(): void {
    this.#buffer.toEnd();
    this.#newline();
  }

  /** Answers `complete`. Inserts the common prefix of the matches, and shows a menu if there are several. */
  offer({ start, end, matches, hint }: Completions): void {
    this.#hint = hint;
    const known = [...new Set(matches)];
    const isInText = start >= 0 && start <= this.cursor && end >= start && end <= this.text.length;
    if (known.length === 0 || !isInText) return;
    const typed = this.text.slice(start, end);
    const shared = commonStart(known);
    if (shared !== typed && (known.length === 1 || shared.startsWith(typed))) {
      this.#buffer.replace(start, end, shared);
      this.#touch();
    }
    if (known.length > 1) this.#menu = new Menu({ start, end: this.cursor, matches: known });
  }

  #pressKey(name: string): EditorAction | undefined {
    if (name in ACTIONS) return ACTIONS[name];
    switch (name) {
      case "ctrl-d":
        if (this.text === "") return "end";
        this.#edit((buffer) => buffer.delete());
        return undefined;
      case "enter":
        return this.#enter();
      case "tab":
        return this.#tab();
      case "ctrl-r":
        if (this.#kind === "code") this.#search = { state: this.#history.search(), before: this.text };
        return undefined;
      default:
        this.#pressPlain(name);
        return undefined;
    }
  }

  #pressPlain(name: string): void {
    const isCode = this.#kind === "code";
    const accepted = this.#accepted(name);
    const move = MOVES[name];
    const edit = EDITS[name];
    if (accepted !== undefined) this.#edit((buffer) => buffer.insert(accepted));
    else if (move !== undefined) move(this.#buffer);
    else if (edit !== undefined) this.#edit(edit);
    else if (NEWLINES.has(name) && isCode) this.#newline();
    else if (isCode && (name === "up" || name === "ctrl-p")) this.#up();
    else if (isCode && (name === "down" || name === "ctrl-n")) this.#down();
    else if (isCode && name === "page-up") this.#older();
    else if (isCode && name === "page-down") this.#newer();
  }

  /** What the key inserts of the suggestion. */
  #accepted(name: string): string | undefined {
    const isWhole = ACCEPTS.has(name);
    if (!isWhole && !ACCEPTS_WORD.has(name)) return undefined;
    const { suggestion } = this;
    return suggestion === undefined || isWhole ? suggestion : firstWord(suggestion);
  }

  #enter(): EditorAction | undefined {
    const { text } = this;
    if (this.#kind === "line" || text === this.#recalled || /^(?:[:?]|![^\n]*$)/.test(text)) return "submit";
    if (!this.#buffer.isOnLastLine) return this.#newline();
    const last = text.slice(this.#buffer.lineStart);
    if (last.trim() === "") return "submit";
    return looksOpen(text) || (text.includes("\n") && isInBlock(text)) ? this.#newline() : "submit";
  }

  #newline(): undefined {
    const before = this.text.slice(0, this.cursor);
    this.#edit((buffer) => buffer.insert(`\n${indentAfter(before)}`));
    return undefined;
  }

  #tab(): EditorAction | undefined {
    const { lineBefore } = this.#buffer;
    if (this.#kind === "code" && lineBefore.trim() !== "") return "complete";
    this.#edit((buffer) => buffer.insert(this.#kind === "line" ? "\t" : tabText(lineBefore)));
    return undefined;
  }

  #up(): void {
    if (this.#buffer.isOnFirstLine) this.#older();
    else this.#buffer.up();
  }

  #down(): void {
    if (this.#buffer.isOnLastLine) this.#newer();
    else this.#buffer.down();
  }

  #older(): void {
    const before = this.text.includes("\n") ? "" : this.text.slice(0, this.cursor);
    this.#show(this.#history.older(this.text, before));
  }

  #newer(): void {
    this.#show(this.#history.newer(this.text));
  }

  #show(entry: string | undefined): void {
    if (entry === undefined) return;
    this.#buffer.replaceAll(entry);
    this.#recalled = this.text;
    this.#isTyped = false;
  }

  #edit(change: (buffer: TextBuffer) => void): void {
    change(this.#buffer);
    this.#touch();
  }

  #touch(): void {
    this.#recalled = undefined;
    this.#history.reset();
  }

  /** True: the key was handled. Other keys accept the choice. */
  #pressInMenu(key: Key): boolean {
    const menu = this.#menu;
    if (menu === undefined || key.kind === "report") return false;
    const name = key.kind === "key" ? key.name : "";
    const step = name === "tab" || name === "down" ? 1 : name === "shift-tab" || name === "up" ? -1 : undefined;
    if (step !== undefined) {
      this.#buffer.replace(menu.start, this.cursor, menu.move(step));
      return true;
    }
    this.#menu = undefined;
    return name === "escape" || (name === "enter" && menu.chosen !== -1);
  }

  #pressInSearch(key: Key): boolean {
    const search = this.#search;
    if (search === undefined || key.kind === "report") return false;
    const { state, before } = search;
    const name = key.kind === "key" ? key.name : "";
    if (key.kind !== "key") state.narrow(state.query + key.text.replaceAll(/\s+/g, " "));
    else if (name === "backspace") state.narrow(state.query.slice(0, -1));
    else if (name === "ctrl-r") state.older();
    else {
      this.#search = undefined;
      const isLeft = name === "escape" || name === "ctrl-g" || name === "ctrl-c";
      if (isLeft) this.#buffer.replaceAll(before);
      return isLeft || name === "enter";
    }
    this.#show(state.found);
    return true;
  }
}

const ACTIONS: Readonly<Record<string, EditorAction>> = {
  "ctrl-c": "cancel",
  "ctrl-l": "clear-screen",
  "ctrl-z": "suspend",
};

const NEWLINES: ReadonlySet<string> = new Set(["alt-enter", "shift-enter", "ctrl-enter", "ctrl-o"]);

const ACCEPTS: ReadonlySet<string> = new Set(["right", "ctrl-f", "end", "ctrl-e"]);
const ACCEPTS_WORD: ReadonlySet<string> = new Set(["alt-f", "ctrl-right", "alt-right"]);

const MOVES: Readonly<Record<string, (buffer: TextBuffer) => void>> = {
  left: (buffer) => buffer.left(),
  "ctrl-b": (buffer) => buffer.left(),
  right: (buffer) => buffer.right(),
  "ctrl-f": (buffer) => buffer.right(),
  home: (buffer) => buffer.home(),
  "ctrl-a": (buffer) => buffer.home(),
  end: (buffer) => buffer.end(),
  "ctrl-e": (buffer) => buffer.end(),
  "ctrl-left": (buffer) => buffer.wordLeft(),
  "alt-left": (buffer) => buffer.wordLeft(),
  "alt-b": (buffer) => buffer.wordLeft(),
  "ctrl-right": (buffer) => buffer.wordRight(),
  "alt-right": (buffer) => buffer.wordRight(),
  "alt-f": (buffer) => buffer.wordRight(),
  "ctrl-home": (buffer) => buffer.toStart(),
  "alt-<": (buffer) => buffer.toStart(),
  "ctrl-end": (buffer) => buffer.toEnd(),
  "alt->": (buffer) => buffer.toEnd(),
};

const EDITS: Readonly<Record<string, (buffer: TextBuffer) => void>> = {
  backspace: (buffer) => buffer.backspace(backspaceWidth(buffer.lineBefore)),
  delete: (buffer) => buffer.delete(),
  "ctrl-k": (buffer) => buffer.killToEnd(),
  "ctrl-u": (buffer) => buffer.killToStart(),
  "ctrl-w": (buffer) => buffer.killWordLeft(),
  "alt-backspace": (buffer) => buffer.killWordLeft(),
  "alt-d": (buffer) => buffer.killWordRight(),
  "ctrl-y": (buffer) => buffer.yank(),
  "alt-y": (buffer) => buffer.yankOlder(),
  "ctrl-_": (buffer) => buffer.undo(),
  "alt-_": (buffer) => buffer.redo(),
};
