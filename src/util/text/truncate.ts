// Truncates output for a model: the whole where it fits, else its beginning and its end with a marker line between, or one page of it.
//
// Control sequences of terminals are removed. Offsets are bytes of the output as it was printed, so they mean the same in every call.
// However long the output is, only a few bytes are read for each character shown.

import { formatCount } from "./format.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { characterAfter, headLength, tailLength, toText } from "./cut-points.ts";
import { countCharacters, trimBrokenEnd, trimBrokenStart } from "./utf8.ts";

export interface TruncateOptions {
  /** Of the result, with the marker; at least 200. */
  readonly maxCharacters: number;
  /** How to read the omitted part, which begins at this offset. Left out where there is no space for it. */
  readonly hint: (offset: number) => string;
  /** What is counted. Characters are counted as Python does, and bytes instead where there is too much to read. Default: bytes. */
  readonly unit?: "bytes" | "characters";
  /** The marker line. Default: in brackets. */
  readonly marker?: (omission: string) => string;
}

/** Bytes to read for each character shown: it may take three, and colours and progress bars come on top. */
const BYTES_PER_CHARACTER = 4;
const HEAD_SHARE = 0.6;
/** Counting characters reads all bytes, so there is a limit. */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** Head (60 %) and tail (40 %) end at line boundaries where lines are short enough. Never longer than `maxCharacters`. */
export function truncateOutput(
  source: ByteSource,
  options: TruncateOptions,
): { readonly text: string; readonly isCut: boolean } {
  const { totalBytes, readableBytes } = source;
  const { maxCharacters } = options;
  const note = toDroppedNote(source);
  const window = BYTES_PER_CHARACTER * maxCharacters;
  const whole = readableBytes <= 2 * window ? source.read(0, readableBytes) : undefined;
  if (whole !== undefined) {
    const text = joinLines(toText(whole), note);
    if (text.length <= maxCharacters) return { text, isCut: note !== "" };
  }
  const head = whole ?? trimBrokenEnd(source.read(0, window));
  const tail = whole ?? trimBrokenLine(source.read(readableBytes - window, window));
  const ends: Ends = { head, tail, start: readableBytes - tail.length, totalBytes, note };
  for (const marker of toMarkers(source, options)) {
    const text = joinEnds(ends, marker, maxCharacters);
    if (text !== undefined && text.length <= maxCharacters) return { text, isCut: true };
  }
  return { text: "", isCut: true };
}

/**
 * As much as fits from an offset, and the offset of the next page, which is larger; null at the end. An offset inside of a character
 * begins with the next character.
 */
export function pageOutput(
  source: ByteSource,
  { offset, maxCharacters }: { readonly offset: number; readonly maxCharacters: number },
): { readonly text: string; readonly nextOffset: number | null } {
  const { readableBytes } = source;
  const first = Math.min(Math.max(0, offset), readableBytes);
  const from = Math.max(0, first - 3); // enough to see whether a character began before
  const read = source.read(from, first - from + BYTES_PER_CHARACTER * maxCharacters);
  const start = characterAfter(read, first - from);
  const isLast = from + read.length >= readableBytes;
  const bytes = isLast ? read.subarray(start) : trimBrokenEnd(read.subarray(start));
  if (isLast || bytes.length === 0) {
    const text = joinLines(toText(bytes), toDroppedNote(source));
    if (text.length <= maxCharacters) return { text, nextOffset: null };
  }
  const length = headLength(bytes, maxCharacters);
  return { text: toText(bytes.subarray(0, length)), nextOffset: from + start + length };
}

/** The line for this many bytes that are omitted from an offset on. Longest for all bytes, from the first or after the last. */
type Marker = (omittedBytes: number, offset: number) => string;

/** The best first; the next one is used where there is no space for it. */
function toMarkers(
  source: ByteSource,
  { hint, unit = "bytes", marker = (text) => `[… ${text}]` }: TruncateOptions,
): Marker[] {
  const count = toCounter(source, unit);
  return [
    (omitted, offset) => `${marker(`${count(omitted, offset)} omitted; ${hint(offset)}`)}\n`,
    (omitted, offset) => `${marker(`${count(omitted, offset)} omitted`)}\n`,
    () => "",
  ];
}

function toCounter(source: ByteSource, unit: "bytes" | "characters"): Marker {
  const { totalBytes, readableBytes } = source;
  const share = (part: number, whole: number): string => `${formatCount(part)} of ${formatCount(whole)}`;
  if (unit === "bytes" || totalBytes > Math.min(readableBytes, MAX_COUNTED_BYTES)) {
    return (omitted) => `${share(omitted, totalBytes)} bytes`;
  }
  let total: number | undefined;
  return (omitted, offset) => {
    total ??= countIn(source, 0, totalBytes);
    const part = omitted === totalBytes ? total : countIn(source, offset, offset + omitted);
    return `${share(part, total)} characters`;
  };
}

function countIn(source: ByteSource, from: number, to: number): number {
  let count = 0;
  for (let offset = from; offset < to; offset += CHUNK_BYTES) {
    count += countCharacters(source.read(offset, Math.min(CHUNK_BYTES, to - offset)));
  }
  return count;
}

interface Ends {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** The offset at which `tail` begins; 0 when both are the whole. */
  readonly start: number;
  readonly totalBytes: number;
  readonly note: string;
}

/** Undefined: the marker leaves too little space. */
function joinEnds(ends: Ends, marker: Marker, maxCharacters: number): string | undefined {
  const { head, tail, start, totalBytes, note } = ends;
  const longest = Math.max(marker(totalBytes, 0).length, marker(totalBytes, totalBytes).length);
  const space = maxCharacters - longest - note.length - 2; // and two newlines
  if (space < maxCharacters / 10) return undefined;
  const headSpace = Math.floor(space * HEAD_SHARE);
  const headBytes = headLength(head, headSpace);
  const after = tail.subarray(Math.max(0, headBytes - start));
  const tailBytes = tailLength(after, space - headSpace);
  const omitted = start + tail.length - headBytes - tailBytes;
  const parts = [
    toText(head.subarray(0, headBytes)),
    marker(omitted, headBytes),
    toText(after.subarray(after.length - tailBytes)),
    note,
  ];
  return parts.reduce(joinLines);
}

/** Removes the first line, whose beginning is missing, unless it is most of the bytes. */
function trimBrokenLine(bytes: Buffer): Buffer {
  const line = bytes.indexOf("\n") + 1;
  return line * 2 < bytes.length && line > 0 ? bytes.subarray(line) : trimBrokenStart(bytes);
}

function joinLines(before: string, after: string): string {
  return before === "" || after === "" || before.endsWith("\n") ? before + after : `${before}\n${after}`;
}

function toDroppedNote({ totalBytes, readableBytes }: ByteSource): string {
  const droppedBytes = totalBytes - readableBytes;
  if (droppedBytes <= 0) return "";
  return `[… another ${formatCount(droppedBytes)} bytes were printed, and dropped]\n`;
}
