// Long texts: the head and the tail are shown, and the middle on demand, a piece at a time.

export interface CutText {
  readonly head: string;
  /** Characters that are not shown. 0: `head` is everything. */
  readonly hidden: number;
  readonly tail: string;
}

/** Cuts at ends of lines where one is near. `more`: characters of the middle that are shown after the head. */
export function cutText(text: string, limits: { readonly head: number; readonly tail: number }, more = 0): CutText {
  const wanted = limits.head + more;
  // A few lines less are not worth a button.
  if (text.length <= (wanted + limits.tail) * 1.1) return { head: text, hidden: 0, tail: "" };
  const head = text.slice(0, lineEndBefore(text, wanted));
  const tail = text.slice(lineStartAfter(text, text.length - limits.tail));
  return { head, hidden: text.length - head.length - tail.length, tail };
}

function lineEndBefore(text: string, at: number): number {
  const end = text.lastIndexOf("\n", at);
  return end > at * 0.8 ? end + 1 : wholeCharacter(text, at);
}

function lineStartAfter(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end !== -1 && end - at < (text.length - at) * 0.2 ? end + 1 : wholeCharacter(text, at);
}

/** Never between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

export interface MarkedPart {
  readonly text: string;
  readonly isMatch: boolean;
}

const MAX_MARKS = 500;

/** The text in parts, with what matches apart from the rest. Upper and lower case are the same. */
export function markMatches(text: string, sought: string): readonly MarkedPart[] {
  if (sought === "") return [{ text, isMatch: false }];
  const parts: MarkedPart[] = [];
  const pattern = new RegExp(sought.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), "giu");
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    if (parts.length >= 2 * MAX_MARKS) break;
    if (match.index > done) parts.push({ text: text.slice(done, match.index), isMatch: false });
    parts.push({ text: match[0], isMatch: true });
    done = match.index + match[0].length;
  }
  if (done < text.length) parts.push({ text: text.slice(done), isMatch: false });
  return parts;
}

/** Enough of the middle that the first match is shown. */
export function reachOf(text: string, sought: string, head: number): number {
  if (sought === "") return 0;
  const at = text.toLowerCase().indexOf(sought.toLowerCase());
  return at < head ? 0 : at - head + 2_000;
}
