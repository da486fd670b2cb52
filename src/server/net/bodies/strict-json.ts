// Strict JSON: no duplicate names, which parsers treat differently, and limits on depth and on the number of values.
//
// The text is scanned before it is parsed: millions of small or deeply nested values would take many times the memory of their text and
// block the event loop.

import { parseJSON } from "../../../util/parse-json.ts";

const MAX_DEPTH = 64;
/** Objects, arrays, names, and values between commas. A string counts as one, whatever its length. */
const MAX_PARTS = 1_000_000;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Throws a SyntaxError with a message for people. `what`: what the text is. */
export function parseStrictJSON(text: string, what = "body"): unknown {
  checkStructure(text, what);
  const value = parseJSON(text);
  if (value === undefined) throw notJSON(what);
  return value;
}

/** The text may not be JSON: then the result does not matter, because parsing fails. */
function checkStructure(text: string, what: string): void {
  /** The names of each open object; null: an array. */
  const open: (Set<string> | null)[] = [];
  let names: Set<string> | null = null;
  let isName = false;
  let parts = 0;
  const count = (): void => {
    parts += 1;
    if (parts > MAX_PARTS) throw new SyntaxError(`The ${what} has more than ${MAX_PARTS} values and names`);
  };
  for (let at = 0; at < text.length; at += 1) {
    const mark = text.charCodeAt(at);
    if (mark === QUOTE) {
      const end = endOfString(text, at, what);
      if (isName && names !== null) {
        count();
        const name = toName(text.slice(at, end), what);
        if (names.has(name)) throw new SyntaxError(`The ${what} has the field '${name.slice(0, 100)}' twice`);
        names.add(name);
        isName = false;
      }
      at = end - 1;
    } else if (mark === OPEN_OBJECT || mark === OPEN_ARRAY) {
      count();
      if (open.length === MAX_DEPTH) throw new SyntaxError(`The ${what} is nested deeper than ${MAX_DEPTH}`);
      isName = mark === OPEN_OBJECT;
      names = isName ? new Set() : null;
      open.push(names);
    } else if (mark === CLOSE_OBJECT || mark === CLOSE_ARRAY) {
      open.pop();
      names = open.at(-1) ?? null;
      isName = false;
    } else if (mark === COMMA) {
      count();
      isName = names !== null;
    }
  }
}

/** The token includes its quotes. */
function toName(token: string, what: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  const name = parseJSON(token);
  if (typeof name !== "string") throw notJSON(what);
  return name;
}

/** The index after the closing quote. A regular expression would overflow the stack on a long string. */
function endOfString(text: string, start: number, what: string): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    if (at === -1) throw notJSON(what);
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}

function notJSON(what: string): SyntaxError {
  return new SyntaxError(`The ${what} is not JSON in UTF-8`);
}
