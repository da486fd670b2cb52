// JSON that means the same to everybody: no name twice in an object, which parsers read differently, and no deeper than programs bear.

const MAX_DEPTH = 64;
/** Where something opens, closes or is separated, and where a string begins. */
const MARK = /["{}[\],:]/g;

/** Throws a SyntaxError whose message says what is wrong, for people. `what`: what the text is. */
export function parseStrictJSON(text: string, what = "body"): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    throw new SyntaxError(`The ${what} is not JSON in UTF-8`);
  }
  if (typeof value === "object" && value !== null) checkStructure(text, what);
  return value;
}

/** It is JSON already, so that only structure matters. */
function checkStructure(text: string, what: string): void {
  /** The names of each open object; null: an array. */
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length;) {
    MARK.lastIndex = at;
    const mark = MARK.exec(text);
    if (mark === null) return;
    at = mark[0] === '"' ? endOfString(text, mark.index) : MARK.lastIndex;
    const token = text.slice(mark.index, at);
    const names = open.at(-1);
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > MAX_DEPTH) throw new SyntaxError(`The ${what} is nested deeper than ${MAX_DEPTH}`);
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
      isName = false;
    } else if (token === ",") isName = names instanceof Set;
    else if (token !== ":" && isName && names instanceof Set) {
      const name = token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);
      if (names.has(name)) throw new SyntaxError(`The ${what} has the field '${name.slice(0, 100)}' twice`);
      names.add(name);
      isName = false;
    }
  }
}

/** Right after the quote that ends it. A pattern would run out of stack on a long one. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}
