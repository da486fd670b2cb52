// JSON that means the same to everybody: no name twice in an object, which parsers read differently, and no deeper than programs bear.

const MAX_DEPTH = 64;
/** Whole strings, without looking at what is in them; and what opens and closes. */
const TOKEN = /"(?:[^"\\]|\\[^])*"|[{}[\],:]/gy;
const SKIP = /[^"{}[\],:]*/y;

/** Throws a SyntaxError whose message says what is wrong, for people. */
export function parseStrictJSON(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    throw new SyntaxError("The body is not JSON in UTF-8");
  }
  if (typeof value === "object" && value !== null) checkStructure(text);
  return value;
}

/** It is JSON already, so that only structure matters. */
function checkStructure(text: string): void {
  /** The names of each open object; null: an array. */
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length;) {
    SKIP.lastIndex = at;
    SKIP.test(text);
    TOKEN.lastIndex = SKIP.lastIndex;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return;
    at = TOKEN.lastIndex;
    const names = open.at(-1);
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > MAX_DEPTH) throw new SyntaxError(`The body is nested deeper than ${MAX_DEPTH}`);
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
      isName = false;
    } else if (token === ",") isName = names instanceof Set;
    else if (token !== ":" && isName && names instanceof Set) {
      const name = token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);
      if (names.has(name)) throw new SyntaxError(`The body has the field '${name.slice(0, 100)}' twice`);
      names.add(name);
      isName = false;
    }
  }
}
