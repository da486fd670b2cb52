// Where to cut bytes that were printed, so that both sides read well: at the end of a line where lines are short, else
// between two characters and not inside a terminal command.
//
// It rests on two facts: a byte gives at most one character (UTF-16 unit), and cleaning makes nothing longer. So there is
// always a place that fits, even where the length of the cleaned text does not grow with the bytes.

import { cleanTerminalText } from "./clean-terminal-text.ts";
import { TerminalParser } from "./terminal-parser.ts";
import { isCharacterStart } from "./utf8.ts";

const NEWLINE = 0x0a;

/** What a model is shown of them. */
export function toText(bytes: Buffer): string {
  return cleanTerminalText(bytes.toString("utf8"));
}

/** How many bytes, from the first, give at most so many characters. */
export function headLength(bytes: Buffer, maxCharacters: number): number {
  const fits = (length: number): boolean => toText(bytes.subarray(0, length)).length <= maxCharacters;
  const sure = Math.min(bytes.length, maxCharacters);
  const free = lastThat(fits, sure, bytes.length);
  const line = bytes.subarray(0, free).lastIndexOf(NEWLINE) + 1;
  if (line > 0 && line * 2 >= free && fits(line)) return line;
  const clear = clearBefore(bytes, free);
  return clear > 0 && fits(clear) ? clear : characterBefore(bytes, sure);
}

/** How many bytes, up to the last, give at most so many characters. */
export function tailLength(bytes: Buffer, maxCharacters: number): number {
  const { length } = bytes;
  const fits = (place: number): boolean => toText(bytes.subarray(place)).length <= maxCharacters;
  const sure = Math.max(0, length - maxCharacters);
  const free = length - lastThat((count) => fits(length - count), length - sure, length);
  const line = free === 0 ? 0 : bytes.indexOf(NEWLINE, free - 1) + 1;
  if (line > 0 && (length - line) * 2 >= length - free && fits(line)) return length - line;
  const clear = clearAfter(bytes, free);
  return length - (clear < length && fits(clear) ? clear : characterAfter(bytes, sure));
}

/** By halving, from one that holds; it need not hold for everything below. */
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
  let place = limit;
  while (place > 0 && !isCharacterStart(bytes, place)) place -= 1;
  return place;
}

function characterAfter(bytes: Buffer, limit: number): number {
  let place = limit;
  while (!isCharacterStart(bytes, place)) place += 1;
  return place;
}

/** The last place up to the limit that is between two characters and outside of a terminal command. */
function clearBefore(bytes: Buffer, limit: number): number {
  let last = 0;
  for (const place of clearPlaces(bytes)) {
    if (place > limit) break;
    last = place;
  }
  return last;
}

function clearAfter(bytes: Buffer, limit: number): number {
  for (const place of clearPlaces(bytes)) if (place >= limit) return place;
  return bytes.length;
}

function* clearPlaces(bytes: Buffer): Generator<number, void, void> {
  const parser = new TerminalParser({ text: () => undefined, sequence: () => undefined });
  // A character for each byte. Commands are ASCII; that some can begin with a C1 control is left aside here.
  const ascii = bytes.toString("latin1").replaceAll(/[\u0080-\u00FF]/g, "x");
  for (let place = 0; place < bytes.length; place += 1) {
    if (parser.isInText && isCharacterStart(bytes, place)) yield place;
    parser.write(ascii.charAt(place));
  }
  yield bytes.length;
}
