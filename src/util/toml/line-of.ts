// Where a key is in a TOML document.

import { toStatements } from "./statements.ts";

/** The line of the key, or of its table if the key is missing. */
export function lineOf(text: string, path: readonly string[]): number | null {
  const matches = toStatements(text)
    .map(({ path: written, start }) => ({ start, shared: sharedParts(written, path), length: written.length }))
    .filter(({ shared, length }) => shared > 0 && (shared === length || shared === path.length))
    .toSorted((a, b) => b.shared - a.shared || a.start - b.start);
  const start = matches[0]?.start;
  return start === undefined ? null : text.slice(0, start).split("\n").length;
}

function sharedParts(a: readonly string[], b: readonly string[]): number {
  const end = a.findIndex((part, index) => part !== b[index]);
  return end === -1 ? a.length : end;
}
