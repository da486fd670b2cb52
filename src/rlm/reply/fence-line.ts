// The lines that begin and end a block of code in Markdown: CommonMark's fences, at any indentation and behind the marker of a list
// item, where models put them.

export interface Fence {
  readonly character: string;
  readonly length: number;
  /** Columns before it; so much is taken away from the lines of its block. */
  readonly indent: number;
  /** The first word after it, in lower case; empty: none. */
  readonly tag: string;
}

const OPENING = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}|~{3,})(.*)$/;
const CLOSING = /^([ \t]*)(`{3,}|~{3,})[ \t]*$/;
/** More than this before the opening one, it is text of the block. */
const CLOSING_INDENT = 3;
const TAB = 4;
const MAX_TAG = 30;

export function parseOpening(line: string): Fence | undefined {
  const [, before = "", marks = "", info = ""] = OPENING.exec(line) ?? [];
  if (marks === "" || (marks.startsWith("`") && info.includes("`"))) return undefined;
  // {python}, python:file.py, python title="..."
  const [word = ""] = info.split(/[\s{}:,]+/).filter((part) => part !== "");
  const tag = word.replace(/^\./, "").toLowerCase().slice(0, MAX_TAG);
  return { character: marks.charAt(0), length: marks.length, indent: widthOf(before), tag };
}

export function isClosing(line: string, fence: Fence): boolean {
  const [, before = "", marks = ""] = CLOSING.exec(line) ?? [];
  const isLongEnough = marks.startsWith(fence.character) && marks.length >= fence.length;
  return isLongEnough && widthOf(before) <= fence.indent + CLOSING_INDENT;
}

/** The line without a fence that somebody forgot to give a line of its own; undefined where there is none at its end. */
export function withoutFenceAtEnd(line: string, fence: Fence): string | undefined {
  const text = line.trimEnd();
  let end = text.length;
  while (end > 0 && text[end - 1] === fence.character) end -= 1;
  return end > 0 && text.length - end >= fence.length ? text.slice(0, end) : undefined;
}

/** The lines of a message that are in no block. */
export function* linesOutsideFences(
  text: string,
): Generator<{ readonly line: string; readonly start: number }, void, void> {
  let fence: Fence | undefined;
  let start = 0;
  for (const line of text.split("\n")) {
    const bare = line.replace(/\r$/, "");
    const opening = fence === undefined ? parseOpening(bare) : undefined;
    if (fence === undefined && opening === undefined) yield { line: bare, start };
    else if (fence === undefined) fence = opening;
    else if (isClosing(bare, fence)) fence = undefined;
    start += line.length + 1;
  }
}

/** Without so many columns of the whitespace at its beginning. */
export function unindent(line: string, columns: number): string {
  let width = 0;
  let place = 0;
  while (width < columns && (line[place] === " " || line[place] === "\t")) {
    width += line[place] === "\t" ? TAB - (width % TAB) : 1;
    place += 1;
  }
  return line.slice(place);
}

export function indentOf(line: string): number {
  return widthOf(/^[ \t]*/.exec(line)?.[0] ?? "");
}

function widthOf(before: string): number {
  let width = 0;
  for (const character of before) width += character === "\t" ? TAB - (width % TAB) : 1;
  return width;
}
