// The lines that open and close a block of code in Markdown: CommonMark's fences, and what models make of them: at any indentation, after
// a list marker, after text on the same line, with a token of theirs behind the last one.
//
// Every pattern takes linear time: a model may write a line of a million spaces.

export interface Fence {
  readonly character: string;
  readonly length: number;
  /** Columns before it, which are removed from the lines of its block. */
  readonly indent: number;
  /** The first word after it, in lower case; empty: none. */
  readonly tag: string;
}

const OPENING = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}|~{3,})(.*)$/;
/** "Here is the code: ```python": after a colon or a space, with a tag, at the end of the line, and without other backticks. */
const OPENING_AFTER_TEXT = /^(`{3,})([A-Za-z][\w+#.-]*)$/;
/** Tokens that end a reply, which some servers leave in the text. */
const END_TOKENS = /^(?:<\|[a-z_]+\|>|<\/s>|<end_of_turn>)*$/;
const CLOSING = /^([ \t]*)(`{3,}|~{3,})(.*)$/;
const ONE_LINE = /^(`{3,})([A-Za-z]\w*)[ \t]([^`]+)\1$/;
/** Indented by more than this beyond the opening fence, it is text of the block. */
const CLOSING_INDENT = 3;
const TAB = 4;
const MAX_TAG = 30;

/** In a text. Inside of a block only what has a line of its own can be an opening. */
export function parseOpening(line: string, { isInText = true } = {}): Fence | undefined {
  const [, before = "", marks = "", info = ""] = OPENING.exec(line) ?? (isInText ? openingAfterText(line) : []);
  if (marks === "" || (marks.startsWith("`") && info.includes("`"))) return undefined;
  // {python}, python:file.py, python title="..."
  const [word = ""] = info.split(/[\s{}:,]+/).filter((part) => part !== "");
  const tag = word.replace(/^\./, "").toLowerCase().slice(0, MAX_TAG);
  return { character: marks.charAt(0), length: marks.length, indent: widthOf(before), tag };
}

/** As OPENING has it: what is before it, the backticks, the tag. Empty: there is none. */
function openingAfterText(line: string): readonly string[] {
  const text = line.slice(0, Math.max(0, line.indexOf("`")));
  const [, marks, tag] = /[:\s]$/.test(text) ? (OPENING_AFTER_TEXT.exec(line.slice(text.length).trimEnd()) ?? []) : [];
  return marks === undefined || tag === undefined ? [] : [line, leadingBlanks(line), marks, tag];
}

/** A block that is opened and closed on one line, with a tag. */
export function parseOneLine(line: string): { readonly tag: string; readonly text: string } | undefined {
  const [, , tag, inner = ""] = ONE_LINE.exec(line.trim()) ?? [];
  const text = inner.trim();
  return tag === undefined || text === "" ? undefined : { tag: tag.toLowerCase(), text };
}

export function isClosing(line: string, fence: Fence): boolean {
  const [, before = "", marks = "", rest = ""] = CLOSING.exec(line) ?? [];
  const isLongEnough = marks.startsWith(fence.character) && marks.length >= fence.length;
  return isLongEnough && END_TOKENS.test(rest.trim()) && widthOf(before) <= fence.indent + CLOSING_INDENT;
}

/** The line without a fence at its end that should have been on a line of its own. Undefined: there is none. */
export function withoutFenceAtEnd(line: string, fence: Fence): string | undefined {
  const text = line.trimEnd();
  let end = text.length;
  while (end > 0 && text[end - 1] === fence.character) end -= 1;
  return end > 0 && text.length - end >= fence.length ? text.slice(0, end) : undefined;
}

/** The lines of a message outside of blocks. */
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

/** Removes this many columns of leading whitespace. */
export function unindent(line: string, columns: number): string {
  let width = 0;
  let index = 0;
  while (width < columns && (line[index] === " " || line[index] === "\t")) {
    width += line[index] === "\t" ? TAB - (width % TAB) : 1;
    index += 1;
  }
  return line.slice(index);
}

export function indentOf(line: string): number {
  return widthOf(leadingBlanks(line));
}

function leadingBlanks(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function widthOf(before: string): number {
  let width = 0;
  for (const character of before) width += character === "\t" ? TAB - (width % TAB) : 1;
  return width;
}
