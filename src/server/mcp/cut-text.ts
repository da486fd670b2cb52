// Output in the few thousand characters that a model can be shown: whole where it fits, else its beginning and its end, or
// a page of it.
//
// Offsets are bytes of the source as it was printed, so that they mean the same in every call. What is shown is cleaned of
// what only a terminal understands. However much there is, only a few bytes for each character shown are read of it.

import { isCharacterStart, trimBrokenEnd, trimBrokenStart } from "../../util/utf8.ts";
import type { ByteSource } from "./byte-source.ts";
import { headLength, tailLength, toText } from "./cut-places.ts";

/** How much is read for a character that is shown: it may take three, and colours and progress bars come on top. */
const BYTES_PER_CHARACTER = 4;
const HEAD_SHARE = 0.6;

export interface CutOptions {
  /** Of the result, with everything that is said about the cut; from 200 up. */
  readonly maxCharacters: number;
  /** The call that reads from this offset. */
  readonly readOn: (offset: number) => string;
}

/**
 * Whole where it fits, else head (60 %) and tail (40 %) on line boundaries where lines are short enough, with one line
 * between that says how much is missing and how to read on. Cleaned. Never longer than `maxCharacters`.
 */
export function cutText(source: ByteSource, options: CutOptions): { readonly text: string; readonly isCut: boolean } {
  const { totalBytes, readableBytes } = source;
  const { maxCharacters } = options;
  const note = toNote(totalBytes - readableBytes);
  const window = BYTES_PER_CHARACTER * maxCharacters;
  const whole = readableBytes <= 2 * window ? source.read(0, readableBytes) : undefined;
  if (whole !== undefined) {
    const text = join(toText(whole), note);
    if (text.length <= maxCharacters) return { text, isCut: note !== "" };
  }
  const head = whole ?? trimBrokenEnd(source.read(0, window));
  const tail = whole ?? trimBrokenLine(source.read(readableBytes - window, window));
  const ends: Ends = { head, tail, start: readableBytes - tail.length, totalBytes, note };
  // Without the call, or without a word, only where there is no room for it.
  const markers: readonly Marker[] = [
    (omitted, offset) => `[… ${omitted} bytes omitted; read on with ${options.readOn(offset)}]\n`,
    (omitted) => `[… ${omitted} bytes omitted]\n`,
    () => "",
  ];
  for (const marker of markers) {
    const text = toHeadAndTail(ends, marker, maxCharacters);
    if (text !== undefined && text.length <= maxCharacters) return { text, isCut: true };
  }
  return { text: "", isCut: true };
}

/**
 * A page from an offset: as much as fits, and the offset where the next one begins, which is larger; null at the end. An
 * offset inside of a character begins with the next character.
 */
export function pageText(
  source: ByteSource,
  { offset, maxCharacters }: { readonly offset: number; readonly maxCharacters: number },
): { readonly text: string; readonly nextOffset: number | null } {
  const { totalBytes, readableBytes } = source;
  const note = toNote(totalBytes - readableBytes);
  const asked = Math.min(Math.max(0, offset), readableBytes);
  const from = Math.max(0, asked - 3); // enough to see whether a character began before
  const read = source.read(from, asked - from + BYTES_PER_CHARACTER * maxCharacters);
  let start = asked - from;
  while (start < read.length && !isCharacterStart(read, start)) start += 1;
  const isLast = from + read.length >= readableBytes;
  const bytes = isLast ? read.subarray(start) : trimBrokenEnd(read.subarray(start));
  if (isLast || bytes.length === 0) {
    const text = join(toText(bytes), note);
    if (text.length <= maxCharacters) return { text, nextOffset: null };
  }
  const length = headLength(bytes, maxCharacters);
  return { text: toText(bytes.subarray(0, length)), nextOffset: from + start + length };
}

interface Ends {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** The offset at which `tail` begins; 0 where both are the whole. */
  readonly start: number;
  readonly totalBytes: number;
  readonly note: string;
}

type Marker = (omitted: string, offset: number) => string;

/** Undefined where too little room is left. */
function toHeadAndTail(ends: Ends, marker: Marker, maxCharacters: number): string | undefined {
  const { head, tail, start, totalBytes, note } = ends;
  const longest = marker(toShare(totalBytes, totalBytes), totalBytes).length;
  const room = maxCharacters - longest - note.length - 2; // and two newlines
  if (room < maxCharacters / 10) return undefined;
  const headRoom = Math.floor(room * HEAD_SHARE);
  const headBytes = headLength(head, headRoom);
  const after = tail.subarray(Math.max(0, headBytes - start));
  const tailBytes = tailLength(after, room - headRoom);
  const omitted = start + tail.length - headBytes - tailBytes;
  const parts = [
    toText(head.subarray(0, headBytes)),
    marker(toShare(omitted, totalBytes), headBytes),
    toText(after.subarray(after.length - tailBytes)),
    note,
  ];
  return parts.reduce(join);
}

/** Without the line whose beginning was cut off, unless it is most of what there is. */
function trimBrokenLine(bytes: Buffer): Buffer {
  const line = bytes.indexOf("\n") + 1;
  return line * 2 < bytes.length && line > 0 ? bytes.subarray(line) : trimBrokenStart(bytes);
}

/** The second begins a line of its own. */
function join(before: string, after: string): string {
  return before === "" || after === "" || before.endsWith("\n") ? before + after : `${before}\n${after}`;
}

function toNote(droppedBytes: number): string {
  if (droppedBytes <= 0) return "";
  return `[… another ${droppedBytes.toLocaleString("en-US")} bytes were printed, and dropped]\n`;
}

function toShare(part: number, whole: number): string {
  return `${part.toLocaleString("en-US")} of ${whole.toLocaleString("en-US")}`;
}
