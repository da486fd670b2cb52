// Truncates a text, which the worker may have truncated already, to its beginning and its end with a marker line between.
//
// Characters are counted as Python counts them, so that the numbers in the marker can be used in code. Control sequences of terminals are
// removed from each end separately, so that they cannot affect the marker.

import { formatCount } from "./format.ts";
import { cleanTerminalText } from "./clean-terminal-text.ts";

export interface TruncateTextOptions {
  /** UTF-16 units. */
  readonly maxCharacters: number;
  /** How to read the characters between two indices. Left out where there is no space for it. */
  readonly hint: (from: number, to: number) => string;
  /** The text contains a marker of the worker. Default: false. */
  readonly isTruncated?: boolean;
}

interface Ends {
  readonly head: string;
  readonly tail: string;
  readonly total: number;
  readonly isTruncated: boolean;
}

const HEAD_SHARE = 0.6;
const WORKER_MARKER = /\n… (?<omitted>[\d,]{1,20}) characters omitted …\n/g;

export function truncateText(text: string, { maxCharacters, hint, isTruncated = false }: TruncateTextOptions): string {
  if (!isTruncated && text.length <= Math.max(0, maxCharacters)) return text;
  const ends = isTruncated ? splitAtMarker(text) : wholeText(text);
  if (!ends.isTruncated && text.length <= maxCharacters) return text;
  const withHint = joinEnds(ends, maxCharacters, (from, to) => `; ${hint(from, to)}`);
  return withHint ?? joinEnds(ends, maxCharacters, () => "") ?? "";
}

function wholeText(text: string): Ends {
  return { head: text, tail: text, total: countCharacters(text), isTruncated: false };
}

/** The worker's marker is the one nearest to the middle. */
function splitAtMarker(text: string): Ends {
  const middle = text.length / 2;
  const markers = [...text.matchAll(WORKER_MARKER)];
  const [marker] = markers.toSorted((one, other) => Math.abs(one.index - middle) - Math.abs(other.index - middle));
  if (marker === undefined) return wholeText(text);
  const head = text.slice(0, marker.index);
  const tail = text.slice(marker.index + marker[0].length);
  const omitted = Number(marker.groups?.["omitted"]?.replaceAll(",", ""));
  return { head, tail, total: countCharacters(head) + omitted + countCharacters(tail), isTruncated: true };
}

/** Undefined: the marker leaves too little space. */
function joinEnds(
  { head, tail, total, isTruncated }: Ends,
  maxCharacters: number,
  hint: TruncateTextOptions["hint"],
): string | undefined {
  const space = maxCharacters - toMarker(total, total, hint(total, total)).length;
  if (space < maxCharacters / 10) return undefined;
  const headSpace = isTruncated && head.length + tail.length <= space ? head.length : Math.floor(space * HEAD_SHARE);
  const shownHead = head.slice(0, headSpace).replace(/[\uD800-\uDBFF]$/, "");
  const tailFrom = Math.max(0, tail.length - (space - headSpace));
  const shownTail = tail.slice(tailFrom).replace(/^[\uDC00-\uDFFF]/, "");
  const from = countCharacters(shownHead);
  const to = total - countCharacters(shownTail);
  const marker = toMarker(to - from, total, hint(from, to));
  return cleanTerminalText(shownHead) + marker + cleanTerminalText(shownTail);
}

function toMarker(omitted: number, total: number, hint: string): string {
  return `\n[… ${formatCount(omitted)} of ${formatCount(total)} characters omitted${hint}]\n`;
}

/** As Python counts them: a surrogate pair is one. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) if (isLowOfPair(text, at)) count -= 1;
  return count;
}

function isLowOfPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
