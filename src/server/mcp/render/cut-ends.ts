// A text that the worker may have cut already, shown by its beginning and its end, with one line between them.
//
// Characters are counted as Python counts them, so that what is said about the cut can be used in code. Each end is cleaned
// by itself of what only a terminal understands, so that neither touches the line.

import { cleanTerminalText } from "../../../util/text/clean-terminal-text.ts";

/** What is known of a text: all of it, or its two ends. */
export interface Ends {
  readonly head: string;
  readonly tail: string;
  readonly total: number;
  readonly isCut: boolean;
}

/** The hint says how to read the characters between two places. */
type Hint = (from: number, to: number) => string;

const HEAD_SHARE = 0.6;
/** The line that the worker puts into the middle of what it cuts. */
const WORKER_MARKER = /\n… (?<omitted>[\d,]{1,20}) characters omitted …\n/g;

export function wholeText(text: string): Ends {
  return { head: text, tail: text, total: countCharacters(text), isCut: false };
}

/** The ends of a text that the worker has cut. */
export function toEnds(text: string): Ends {
  const middle = text.length / 2;
  const markers = [...text.matchAll(WORKER_MARKER)];
  const [marker] = markers.toSorted((one, other) => Math.abs(one.index - middle) - Math.abs(other.index - middle));
  if (marker === undefined) return wholeText(text);
  const head = text.slice(0, marker.index);
  const tail = text.slice(marker.index + marker[0].length);
  const omitted = Number(marker.groups?.["omitted"]?.replaceAll(",", ""));
  return { head, tail, total: countCharacters(head) + omitted + countCharacters(tail), isCut: true };
}

/** At most so many characters (UTF-16 units). The hint is left out where it would leave no room for anything else. */
export function cutEnds(ends: Ends, maxCharacters: number, hint: Hint): string {
  if (!ends.isCut && ends.head.length <= maxCharacters) return ends.head;
  const hinted = (from: number, to: number): string => `; ${hint(from, to)}`;
  return toHeadAndTail(ends, maxCharacters, hinted) ?? toHeadAndTail(ends, maxCharacters, () => "") ?? "";
}

function toHeadAndTail({ head, tail, total, isCut }: Ends, maxCharacters: number, hint: Hint): string | undefined {
  const room = maxCharacters - toMarker(total, total, hint(total, total)).length;
  if (room < maxCharacters / 10) return undefined;
  const headRoom = isCut && head.length + tail.length <= room ? head.length : Math.floor(room * HEAD_SHARE);
  const shownHead = head.slice(0, headRoom).replace(/[\uD800-\uDBFF]$/, "");
  const tailFrom = Math.max(0, tail.length - (room - headRoom));
  const shownTail = tail.slice(tailFrom).replace(/^[\uDC00-\uDFFF]/, "");
  const from = countCharacters(shownHead);
  const to = total - countCharacters(shownTail);
  const marker = toMarker(to - from, total, hint(from, to));
  return cleanTerminalText(shownHead) + marker + cleanTerminalText(shownTail);
}

/** The beginning and the end of a text that is known whole. */
export function cutMiddle(text: string, maxCharacters: number, hint: string): string {
  return text.length <= Math.max(0, maxCharacters) ? text : cutEnds(wholeText(text), maxCharacters, () => hint);
}

function toMarker(omitted: number, total: number, hint: string): string {
  return `\n[… ${omitted.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} characters omitted${hint}]\n`;
}

/** As Python counts them. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) if (isSecondHalf(text, at)) count -= 1;
  return count;
}

function isSecondHalf(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
