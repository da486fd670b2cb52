// Where to cut printed bytes: at the end of a line where lines are short, else between two characters and outside of terminal control
// sequences.
//
// A byte gives at most one UTF-16 unit, and cleaning makes nothing longer. So there is always a cut that fits, even though the length of
// the cleaned text does not grow monotonically with the bytes.

import { cleanTerminalText } from "./clean-terminal-text.ts";
import { TerminalParser } from "./terminal-parser.ts";
import { isCharacterStart } from "./utf8.ts";

const NEWLINE = 0x0a;

/** Decoded, without control sequences. */
export function toText(bytes: Buffer): string {
  return cleanTerminalText(bytes.toString("utf8"));
}

/** The number of leading bytes that give at most this many characters. */
export function headLength(bytes: Buffer, maxCharacters: number): number {
  const fits = (length: number): boolean => toText(bytes.subarray(0, length)).length <= maxCharacters;
  const sure = Math.min(bytes.length, maxCharacters);
  const free = lastThat(fits, sure, bytes.length);
  const line = bytes.subarray(0, free).lastIndexOf(NEWLINE) + 1;
  if (line > 0 && line * 2 >= free && fits(line)) return line;
  const clear = clearBefore(bytes, free);
  return clear > 0 && fits(clear) ? clear : characterBefore(bytes, sure);
}

/** The number of trailing bytes that give at most this many characters. */
export function tailLength(bytes: Buffer, maxCharacters: number): number {
  const { length } = bytes;
  const fits = (start: number): boolean => toText(bytes.subarray(start)).length <= maxCharacters;
  const sure = Math.max(0, length - maxCharacters);
  const free = length - lastThat((count) => fits(length - count), length - sure, length);
  const line = free === 0 ? 0 : bytes.indexOf(NEWLINE, free - 1) + 1;
  if (line > 0 && (length - line) * 2 >= length - free && fits(line)) return length - line;
  const clear = clearAfter(bytes, free);
  return length - (clear < length && fits(clear) ? clear : characterAfter(bytes, sure));
}

/** Binary search from a known match; the condition need not be monotonic. */
function lastThat(holds: (count: number) => boolean, known: number, limit: number): number {
  if (holds(limit)) return limit;
  let [yes, no] = [known, limit];
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

function characterBefore(bytes: Buffer, limit: number): number {
  let index = limit;
  while (index > 0 && !isCharacterStart(bytes, index)) index -= 1;
  return index;
}

/** The first index from the limit on at which a cut breaks no character. */
export function characterAfter(bytes: Buffer, limit: number): number {
  let index = limit;
  while (!isCharacterStart(bytes, index)) index += 1;
  return index;
}

/** The last clear index up to the limit: between two characters and outside of a control sequence. */
function clearBefore(bytes: Buffer, limit: number): number {
  let last = 0;
  for (const index of clearIndices(bytes)) {
    if (index > limit) break;
    last = index;
  }
  return last;
}

function clearAfter(bytes: Buffer, limit: number): number {
  for (const index of clearIndices(bytes)) if (index >= limit) return index;
  return bytes.length;
}

function* clearIndices(bytes: Buffer): Generator<number, void, void> {
  const parser = new TerminalParser({ text: () => undefined, sequence: () => undefined });
  // One character per byte. Control sequences are ASCII; those that begin with a C1 control are ignored here.
  const ascii = bytes.toString("latin1").replaceAll(/[\u0080-\u00FF]/g, "x");
  for (let index = 0; index < bytes.length; index += 1) {
    if (parser.isInText && isCharacterStart(bytes, index)) yield index;
    parser.write(ascii.charAt(index));
  }
  yield bytes.length;
}
