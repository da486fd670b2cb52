// Output in so many characters: whole where it fits, else its beginning and its end, with a line between that says what is missing.
//
// Cleaned of what only a terminal understands. However much there is, only a few bytes for each character shown are read of it.

import type { ByteSource } from "../bytes/byte-source.ts";
import { headLength, tailLength, toText } from "./cut-points.ts";
import { trimBrokenEnd, trimBrokenStart } from "./utf8.ts";

/** How much is read for a character that is shown: it may take three, and colours and progress bars come on top. */
export const BYTES_PER_CHARACTER = 4;
const HEAD_SHARE = 0.6;

/** The line for so many bytes that are missing from an offset on. Longest for all bytes, from the first or behind the last. */
export type Marker = (omittedBytes: number, offset: number) => string;

export interface HeadAndTailOptions {
  /** Of the result, with everything that is said about the cut; from 200 up. */
  readonly maxCharacters: number;
  /** The best first: the next one is taken only where there is no room for it. */
  readonly markers: readonly Marker[];
}

/**
 * Whole, or head (60 %) and tail (40 %) on line boundaries where lines are short enough. Never longer than `maxCharacters`.
 */
export function toHeadAndTail(
  source: ByteSource,
  { maxCharacters, markers }: HeadAndTailOptions,
): { readonly text: string; readonly isCut: boolean } {
  const { totalBytes, readableBytes } = source;
  const note = toDroppedNote(totalBytes - readableBytes);
  const window = BYTES_PER_CHARACTER * maxCharacters;
  const whole = readableBytes <= 2 * window ? source.read(0, readableBytes) : undefined;
  if (whole !== undefined) {
    const text = joinLines(toText(whole), note);
    if (text.length <= maxCharacters) return { text, isCut: note !== "" };
  }
  const head = whole ?? trimBrokenEnd(source.read(0, window));
  const tail = whole ?? trimBrokenLine(source.read(readableBytes - window, window));
  const ends: Ends = { head, tail, start: readableBytes - tail.length, totalBytes, note };
  // Without a word only where there is no room for it.
  for (const marker of [...markers, () => ""]) {
    const text = cut(ends, marker, maxCharacters);
    if (text !== undefined && text.length <= maxCharacters) return { text, isCut: true };
  }
  return { text: "", isCut: true };
}

interface Ends {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** The offset at which `tail` begins; 0 where both are the whole. */
  readonly start: number;
  readonly totalBytes: number;
  readonly note: string;
}

/** Undefined where too little room is left. */
function cut(ends: Ends, marker: Marker, maxCharacters: number): string | undefined {
  const { head, tail, start, totalBytes, note } = ends;
  const longest = Math.max(marker(totalBytes, 0).length, marker(totalBytes, totalBytes).length);
  const room = maxCharacters - longest - note.length - 2; // and two newlines
  if (room < maxCharacters / 10) return undefined;
  const headRoom = Math.floor(room * HEAD_SHARE);
  const headBytes = headLength(head, headRoom);
  const after = tail.subarray(Math.max(0, headBytes - start));
  const tailBytes = tailLength(after, room - headRoom);
  const omitted = start + tail.length - headBytes - tailBytes;
  const parts = [
    toText(head.subarray(0, headBytes)),
    marker(omitted, headBytes),
    toText(after.subarray(after.length - tailBytes)),
    note,
  ];
  return parts.reduce(joinLines);
}

/** Without the line whose beginning was cut off, unless it is most of what there is. */
function trimBrokenLine(bytes: Buffer): Buffer {
  const line = bytes.indexOf("\n") + 1;
  return line * 2 < bytes.length && line > 0 ? bytes.subarray(line) : trimBrokenStart(bytes);
}

/** The second begins a line of its own. */
export function joinLines(before: string, after: string): string {
  return before === "" || after === "" || before.endsWith("\n") ? before + after : `${before}\n${after}`;
}

export function toDroppedNote(droppedBytes: number): string {
  if (droppedBytes <= 0) return "";
  return `[… another ${droppedBytes.toLocaleString("en-US")} bytes were printed, and dropped]\n`;
}

export function toShare(part: number, whole: number): string {
  return `${part.toLocaleString("en-US")} of ${whole.toLocaleString("en-US")}`;
}
