// The statements of a TOML document with their offsets. Expects a valid document.

import { parseJSON } from "../parse-json.ts";

export interface TOMLHeader {
  readonly kind: "table" | "array";
  readonly path: readonly string[];
  readonly start: number;
  /** After its line end. */
  readonly end: number;
}

export interface TOMLPair {
  readonly kind: "pair";
  /** The full path: that of its header, then its own key. */
  readonly path: readonly string[];
  readonly start: number;
  readonly valueStart: number;
  /** After the value, before a comment beside it. */
  readonly valueEnd: number;
  /** After its line end. */
  readonly end: number;
}

export type TOMLStatement = TOMLHeader | TOMLPair;

/** In order. Comments and empty lines are between them. */
export function toStatements(text: string): readonly TOMLStatement[] {
  const statements: TOMLStatement[] = [];
  let under: readonly string[] = [];
  let at = skipBlankLines(text, 0);
  while (at < text.length) {
    const statement = text.charAt(at) === "[" ? readHeader(text, at) : readPair(text, at, under);
    if (statement.kind !== "pair") under = statement.path;
    statements.push(statement);
    at = skipBlankLines(text, statement.end);
  }
  return statements;
}

function readHeader(text: string, start: number): TOMLHeader {
  const isArray = text.startsWith("[[", start);
  const { path, end } = readKey(text, start + (isArray ? 2 : 1));
  return { kind: isArray ? "array" : "table", path, start, end: lineEnd(text, end) };
}

function readPair(text: string, start: number, under: readonly string[]): TOMLPair {
  const key = readKey(text, start);
  const valueStart = skipSpaces(text, key.end + 1);
  const valueEnd = skipValue(text, valueStart);
  return { kind: "pair", path: [...under, ...key.path], start, valueStart, valueEnd, end: lineEnd(text, valueEnd) };
}

/** Stops at the `=` or `]` after the key. */
function readKey(text: string, start: number): { readonly path: readonly string[]; readonly end: number } {
  const path: string[] = [];
  let at = skipSpaces(text, start);
  while (at < text.length && !"=]".includes(text.charAt(at))) {
    if (text.charAt(at) === ".") {
      at = skipSpaces(text, at + 1);
      continue;
    }
    const end = "\"'".includes(text.charAt(at)) ? skipString(text, at) : bareEnd(text, at);
    path.push(toName(text.slice(at, end)));
    at = skipSpaces(text, end);
  }
  return { path, end: at };
}

/** A key with escapes that JSON does not have is returned as written; callers look for no such keys. */
function toName(written: string): string {
  if (written.startsWith("'")) return written.slice(1, -1);
  if (!written.startsWith('"')) return written;
  return (parseJSON(written) as string | undefined) ?? written;
}

function bareEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !" \t.=]\r\n".includes(text.charAt(at))) at += 1;
  return at;
}

/** The end of a value: the end of the line, or the closing bracket. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  let end = start;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === "\n" || char === "#") {
      if (depth === 0) break;
      at = char === "#" ? commentEnd(text, at) : at + 1;
      continue;
    }
    if ("[{".includes(char)) depth += 1;
    if ("]}".includes(char)) depth -= 1;
    at = "\"'".includes(char) ? skipString(text, at) : at + 1;
    if (!" \t\r".includes(char)) end = at;
  }
  return end;
}

/** Any of the four kinds of strings. */
function skipString(text: string, start: number): number {
  const quote = text.charAt(start);
  const isLong = text.startsWith(quote.repeat(3), start);
  const close = isLong ? quote.repeat(3) : quote;
  let at = start + close.length;
  while (at < text.length && !text.startsWith(close, at)) at += quote === '"' && text.charAt(at) === "\\" ? 2 : 1;
  at += close.length;
  if (!isLong) return at;
  const own = text.startsWith(quote.repeat(2), at) ? 2 : 1; // the content may end with up to two quotes
  return text.charAt(at) === quote ? at + own : at;
}

function skipSpaces(text: string, start: number): number {
  let at = start;
  while (" \t".includes(text.charAt(at)) && at < text.length) at += 1;
  return at;
}

function skipBlankLines(text: string, start: number): number {
  let at = start;
  for (;;) {
    while (at < text.length && " \t\r\n".includes(text.charAt(at))) at += 1;
    if (text.charAt(at) !== "#") return at;
    at = commentEnd(text, at);
  }
}

function commentEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

/** The offset after the next line end. */
function lineEnd(text: string, start: number): number {
  return Math.min(text.length, commentEnd(text, start) + 1);
}
