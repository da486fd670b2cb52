// The parameters in the text of a signature.

export interface SignaturePart {
  readonly text: string;
  /** Which parameter it is, from 0. Null: what is between and around them, and `*` and `/`, which are none. */
  readonly index: number | null;
}

/** In order. Together they are the text. */
export function splitSignature(text: string): readonly SignaturePart[] {
  const end = closingOf(text);
  if (!text.startsWith("(") || end === undefined) return [{ text, index: null }];
  const parts: SignaturePart[] = [{ text: "(", index: null }];
  let count = 0;
  for (const piece of splitAtCommas(text.slice(1, end))) {
    if (parts.length > 1) parts.push({ text: ",", index: null });
    const isParameter = !["*", "/", ""].includes(piece.trim());
    parts.push({ text: piece, index: isParameter ? count : null });
    if (isParameter) count += 1;
  }
  return [...parts, { text: text.slice(end), index: null }];
}

/** Undefined: the first parenthesis is never closed. */
function closingOf(text: string): number | undefined {
  let depth = 0;
  for (const { character, index } of outsideStrings(text)) {
    if ("([{".includes(character)) depth += 1;
    if (")]}".includes(character)) depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}

function splitAtCommas(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { character, index } of outsideStrings(text)) {
    if ("([{".includes(character)) depth += 1;
    if (")]}".includes(character)) depth -= 1;
    if (character !== "," || depth > 0) continue;
    pieces.push(text.slice(start, index));
    start = index + 1;
  }
  return [...pieces, text.slice(start)];
}

function* outsideStrings(text: string): Generator<{ readonly character: string; readonly index: number }> {
  for (const { 0: found, index } of text.matchAll(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[\s\S]/g)) {
    if (found.length === 1) yield { character: found, index };
  }
}
