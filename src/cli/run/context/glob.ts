// Glob patterns: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders. Only a pattern that begins with a dot
// matches a name that does.

import picomatch from "picomatch";

const MAGIC = /[*?[{]/;
/** Magic to picomatch, and often part of a file's name. */
const LITERAL = /[\\()|+@]/g;

export function isGlob(path: string): boolean {
  return MAGIC.test(path);
}

/** The folder to search, and whether a path in it matches. */
export function toGlob(pattern: string): { readonly folder: string; readonly matches: (path: string) => boolean } {
  const parts = pattern.split("/");
  const first = parts.findIndex((part) => MAGIC.test(part));
  const folder = parts.slice(0, first).join("/") || (pattern.startsWith("/") ? "/" : ".");
  const rest = parts
    .slice(first)
    .join("/")
    .replaceAll(LITERAL, String.raw`\$&`);
  const matches = picomatch(rest, { posix: true, noextglob: true, nonegate: true, strictSlashes: true });
  return { folder, matches: (path) => matches(path) };
}
