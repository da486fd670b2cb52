// Small facts about text that was printed to a terminal.

/** In UTF-8. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Of a pair of surrogates, each half counts for two bytes of four.
    const isHalf = unit >= 0xd800 && unit < 0xe000;
    bytes += unit < 0x800 || isHalf ? 1 : 2;
  }
  return bytes;
}

/** A carriage return goes back to the beginning of the line, and what follows replaces it. */
export function foldReturns(text: string): string {
  if (!text.includes("\r")) return text;
  const lines = text.split("\n");
  return lines
    .map((line, index) => {
      const end = withoutReturns(line);
      const isLast = index === lines.length - 1;
      // The line is not replaced before something follows.
      return end.slice(end.lastIndexOf("\r") + 1) + (isLast && end !== line ? "\r" : "");
    })
    .join("\n");
}

/** Without those at the end. A regular expression would try again at each of those before it. */
function withoutReturns(line: string): string {
  let length = line.length;
  while (line[length - 1] === "\r") length -= 1;
  return line.slice(0, length);
}

/** Lines may be this much longer than a piece. */
const MAX_LINES = 4;

/** Where to cut text so that about `room` characters are before: after a line, else before a character. At least 1. */
export function lastLineBreak(text: string, room: number): number {
  const before = text.lastIndexOf("\n", room - 1);
  if (before >= 0) return before + 1;
  const after = text.slice(0, room * MAX_LINES).indexOf("\n", room);
  if (after >= 0) return after + 1;
  const unit = text.charCodeAt(room - 1);
  const isInPair = unit >= 0xd800 && unit < 0xdc00;
  return Math.max(1, isInPair ? room - 1 : room);
}

// oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
const COLOUR = /\u001b\[([\d;:]{0,100})m/g;
const MAX_COLOURS = 8;

/** The escape sequences whose effect lasts beyond the end of this text. */
export function styleAfter(text: string): string {
  let lasting: string[] = [];
  for (const [sequence, codes = ""] of text.matchAll(COLOUR)) {
    if (codes === "" || /^0+$/.test(codes)) lasting = [];
    else lasting = [...lasting, sequence].slice(-MAX_COLOURS);
  }
  return lasting.join("");
}
