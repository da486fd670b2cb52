// Output in the few thousand characters that a model can be shown: whole where it fits, else its beginning and its end, or
// a page of it.
//
// Offsets are bytes of the source as it was printed, so that they mean the same in every call. What is shown is cleaned of
// what only a terminal understands. However much there is, only a few bytes for each character shown are read of it.

import type { ByteSource } from "../../../util/bytes/byte-source.ts";
import { headLength, toText } from "../../../util/text/cut-points.ts";
import {
  BYTES_PER_CHARACTER,
  joinLines,
  type Marker,
  toDroppedNote,
  toHeadAndTail,
  toShare,
} from "../../../util/text/head-and-tail.ts";
import { isCharacterStart, trimBrokenEnd } from "../../../util/text/utf8.ts";

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
  const share = (omitted: number): string => `${toShare(omitted, source.totalBytes)} bytes omitted`;
  // Without the call only where there is no room for it.
  const markers: readonly Marker[] = [
    (omitted, offset) => `[… ${share(omitted)}; read on with ${options.readOn(offset)}]\n`,
    (omitted) => `[… ${share(omitted)}]\n`,
  ];
  return toHeadAndTail(source, { maxCharacters: options.maxCharacters, markers });
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
  const note = toDroppedNote(totalBytes - readableBytes);
  const asked = Math.min(Math.max(0, offset), readableBytes);
  const from = Math.max(0, asked - 3); // enough to see whether a character began before
  const read = source.read(from, asked - from + BYTES_PER_CHARACTER * maxCharacters);
  let start = asked - from;
  while (start < read.length && !isCharacterStart(read, start)) start += 1;
  const isLast = from + read.length >= readableBytes;
  const bytes = isLast ? read.subarray(start) : trimBrokenEnd(read.subarray(start));
  if (isLast || bytes.length === 0) {
    const text = joinLines(toText(bytes), note);
    if (text.length <= maxCharacters) return { text, nextOffset: null };
  }
  const length = headLength(bytes, maxCharacters);
  return { text: toText(bytes.subarray(0, length)), nextOffset: from + start + length };
}
