// The first JSON object or list in a text, as models write it: line ends and backslashes in strings may be unescaped.

import { parseJSON } from "../../../util/parse-json.ts";

export interface FoundJSON {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
}

/** Of a text that begins like one and is none. */
const MAX_TRIES = 8;
const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export function firstJSON(text: string): FoundJSON | undefined {
  let start = text.search(/[[{]/);
  for (let tries = 0; start >= 0 && tries < MAX_TRIES; tries += 1) {
    const found = readAt(text, start);
    if (found !== undefined) return found;
    const next = text.slice(start + 1).search(/[[{]/);
    start = next < 0 ? -1 : start + 1 + next;
  }
  return undefined;
}

/** Up to the bracket that closes the first one. */
function readAt(text: string, start: number): FoundJSON | undefined {
  let depth = 0;
  let isInString = false;
  let repaired = "";
  for (let index = start; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '"') isInString = !isInString;
    if (isInString && character === "\\") {
      const next = text.charAt(index + 1);
      index += 1;
      repaired += /["\\/bfnrtu]/.test(next) ? `\\${next}` : `\\\\${ESCAPES[next] ?? next}`;
      continue;
    }
    repaired += isInString ? (ESCAPES[character] ?? character) : character;
    if (isInString) continue;
    if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth > 0) continue;
    const value = parseJSON(text.slice(start, index + 1)) ?? parseJSON(repaired);
    return value === undefined ? undefined : { value, start, end: index + 1 };
  }
  return undefined;
}
