// One line of a terminal while it is written: text with styles, and a cursor that overwrites.
//
// A line has a width, as in a terminal, so that what overwrites has little to move, however long the output is.

import { PLAIN, type AnsiStyle } from "./ansi-style.ts";

export interface AnsiRun {
  readonly text: string;
  readonly style: AnsiStyle;
}

const MAX_COLUMNS = 4_000;
/** Further ones look like the last. */
const MAX_RUNS = 500;

export class AnsiLine {
  #runs: readonly AnsiRun[] = [];
  #length = 0;
  #column = 0;

  /** Empty: nothing was written. Changes by replacement, so that it can be compared. */
  get runs(): readonly AnsiRun[] {
    return this.#runs;
  }

  get isFull(): boolean {
    return this.#column >= MAX_COLUMNS;
  }

  /** Writes at the cursor. Returns what did not fit. `text`: without control characters. */
  write(text: string, style: AnsiStyle): string {
    const fitting = text.slice(0, cutBefore(text, MAX_COLUMNS - this.#column));
    const end = this.#column + fitting.length;
    const before = this.#column === this.#length ? this.#runs : takeRuns(this.#runs, this.#column);
    const after = end >= this.#length ? [] : dropRuns(this.#runs, end);
    this.#runs = appendRun(before, { text: fitting, style }, after);
    this.#column = end;
    this.#length = Math.max(this.#length, end);
    return text.slice(fitting.length);
  }

  back(columns: number): void {
    this.#column = Math.max(0, this.#column - columns);
  }

  /** 0: from the cursor on. 1: up to the cursor. 2: all of it. The cursor stays. */
  erase(mode: number): void {
    if (mode === 0) this.#runs = takeRuns(this.#runs, this.#column);
    const blank = { text: " ".repeat(mode === 0 ? 0 : this.#column), style: PLAIN };
    if (mode === 1) this.#runs = appendRun([], blank, dropRuns(this.#runs, this.#column));
    if (mode === 2) this.#runs = appendRun([], blank, []);
    if (mode !== 1) this.#length = this.#column;
  }
}

/** Not between the halves of a pair. */
function cutBefore(text: string, at: number): number {
  const isPair = /[\uD800-\uDBFF]/.test(text[at - 1] ?? "") && at < text.length;
  return isPair && at > 1 ? at - 1 : at;
}

function appendRun(before: readonly AnsiRun[], run: AnsiRun, after: readonly AnsiRun[]): readonly AnsiRun[] {
  if (run.text === "") return [...before, ...after];
  const last = before.at(-1);
  const isSame = last !== undefined && (last.style === run.style || before.length >= MAX_RUNS);
  if (!isSame) return [...before, run, ...after];
  return [...before.slice(0, -1), { text: last.text + run.text, style: last.style }, ...after];
}

/** The first columns. */
function takeRuns(runs: readonly AnsiRun[], columns: number): readonly AnsiRun[] {
  const taken: AnsiRun[] = [];
  let left = columns;
  for (const run of runs) {
    if (left <= 0) break;
    taken.push(run.text.length <= left ? run : { ...run, text: run.text.slice(0, left) });
    left -= run.text.length;
  }
  return taken;
}

/** What follows the first columns. */
function dropRuns(runs: readonly AnsiRun[], columns: number): readonly AnsiRun[] {
  const kept: AnsiRun[] = [];
  let left = columns;
  for (const run of runs) {
    if (left < run.text.length) kept.push(left <= 0 ? run : { ...run, text: run.text.slice(left) });
    left -= run.text.length;
  }
  return kept;
}
