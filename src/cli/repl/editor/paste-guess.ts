// Recognises pasted blocks in terminals that do not mark pastes (bracketed paste).
//
// Nobody types the lines of a block within one read. Lines that stand for themselves may have been typed ahead, and mean the
// same either way: they are keys. A long paste arrives in several reads, each shortly after one that was nearly full.

import { looksOpen } from "./python-text.ts";

// oxlint-disable-next-line no-control-regex -- text, tabs and line ends; keys have other control characters
const TEXT = /^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]+$/;
const ENTER = /^(?:\r|\n|\r\n)$/;
const LONG_READ = 1024;
const PAUSE_MS = 50;

export class PasteGuess {
  #continuesUntilMs = -Infinity;

  /** Whether this read is a pasted block, or the next part of one. */
  isPaste(chunk: string, nowMs: number): boolean {
    const isContinued = nowMs <= this.#continuesUntilMs && !ENTER.test(chunk);
    const isPaste = TEXT.test(chunk) && (isContinued || hasBlock(chunk));
    this.#continuesUntilMs = isPaste && chunk.length >= LONG_READ ? nowMs + PAUSE_MS : -Infinity;
    return isPaste;
  }
}

/** Whether a line is indented below another one, or goes on in the next. */
function hasBlock(chunk: string): boolean {
  const lines = chunk.trimEnd().split(/\r\n?|\n/);
  return lines.some(
    (line, index) => (index > 0 && /^[ \t]+\S/.test(line)) || (index < lines.length - 1 && looksOpen(line)),
  );
}
