// Untrusted text as indented lines: whole, or its beginning and its end with the number of lines between them.

import { cleanTerminalText } from "../../util/text/clean-terminal-text.ts";
import { shorten } from "../../util/text/shorten.ts";

const HEAD_LINES = 8;
const TAIL_LINES = 4;
const LINE_CHARACTERS = 200;

export interface BlockOptions {
  readonly indent: number;
  readonly isFull: boolean;
  /** The maximum if `isFull` is false. Default: 12. */
  readonly lines?: number;
}

/** Ends with a newline; empty if there is nothing to show. Contains no terminal commands. */
export function toBlock(text: string, { indent, isFull, lines: most = HEAD_LINES + TAIL_LINES }: BlockOptions): string {
  const clean = cleanTerminalText(text).trimEnd();
  if (clean === "") return "";
  const lines = clean.split("\n");
  const shown = isFull ? lines : truncateLines(lines, most).map(truncateLine);
  return shown.map((line) => `${" ".repeat(indent)}${line}`.trimEnd()).join("\n") + "\n";
}

/** The text on one line, truncated. */
export function toLine(text: string, characters = LINE_CHARACTERS): string {
  const line = cleanTerminalText(text)
    .replaceAll(/\s*[\n\t]\s*/g, " ")
    .trim();
  return shorten(line, characters);
}

function truncateLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const tail = Math.min(TAIL_LINES, Math.floor(most / 3));
  const omitted = lines.length - most;
  return [...lines.slice(0, most - tail), `… ${omitted} more lines …`, ...lines.slice(lines.length - tail)];
}

function truncateLine(line: string): string {
  const omitted = line.length - LINE_CHARACTERS;
  return omitted > 0 ? `${line.slice(0, LINE_CHARACTERS)}… ${omitted} more characters` : line;
}
