// What the editor knows about Python: colours, indentation and open blocks.
//
// A heuristic on the text. The session decides whether code is complete.

export type TokenKind = "comment" | "string" | "number" | "keyword" | "builtin" | "command";

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

const INDENT = 4;
/** Longer text is not analysed. */
const MAX_ANALYSED = 50_000;

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield match case"
  ).split(" "),
);
const BUILTINS = new Set(
  (
    "abs all any bool bytes callable chr dict dir display enumerate filter float format getattr hasattr hash help id input " +
    "int isinstance issubclass iter len list map max min next object open ord pow print property range repr reversed " +
    "round set setattr sorted staticmethod str sum super tuple type vars zip"
  ).split(" "),
);
/** Keywords only at the start of a line that opens a block. */
const SOFT = new Set(["match", "case"]);
const ENDS_BLOCK = /^\s*(?:return|pass|break|continue|raise)\b/;

const TOKEN = new RegExp(
  [
    String.raw`(?<comment>#[^\n]*)`,
    String.raw`(?<string>(?:[rbfut]|r[bft]|[bft]r)?(?:"""(?:\\[\s\S]|[^\\])*?(?:"""|$)|'''(?:\\[\s\S]|[^\\])*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?))`,
    String.raw`(?<number>(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d+)?j?))`,
    String.raw`(?<name>[\p{L}_][\p{L}\p{N}_]*)`,
    String.raw`(?<open>[([{])`,
    String.raw`(?<close>[)\]}])`,
  ].join("|"),
  "giu",
);

/** In order; text between them has no colour. */
export function tokenize(text: string): Token[] {
  if (text.length > MAX_ANALYSED) return [];
  const command = /^[:?]\S*/.exec(text)?.[0];
  if (command !== undefined) return [{ kind: "command", start: 0, end: command.length }];
  const tokens: Token[] = [];
  const magic = /^%%?\w+/.exec(text)?.[0].length ?? 0;
  if (magic > 0) tokens.push({ kind: "command", start: 0, end: magic });
  for (const match of text.matchAll(TOKEN)) {
    const kind = kindOf(match, text);
    if (kind !== undefined && match.index >= magic)
      tokens.push({ kind, start: match.index, end: match.index + match[0].length });
  }
  return tokens;
}

/** The indentation of a new line after this text. */
export function indentAfter(text: string): string {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  const own = /^[ \t]*/.exec(line)?.[0] ?? "";
  if (ENDS_BLOCK.test(line)) return own.slice(0, Math.max(0, own.length - INDENT));
  return /[:([{]/.test(lastSign(text) ?? "") ? own + " ".repeat(INDENT) : own;
}

/** Whether more lines must follow, as far as the text shows. A magic of a cell applies to all lines until an empty one. */
export function looksOpen(text: string): boolean {
  return text.startsWith("%%") || isInside(text) || lastSign(text) === ":";
}

/** Whether the text ends inside a bracket or a triple-quoted string. */
export function isInside(text: string): boolean {
  if (text.length > MAX_ANALYSED) return false;
  let depth = 0;
  for (const { groups = {}, index, 0: whole } of text.matchAll(TOKEN)) {
    if (groups["open"] !== undefined) depth += 1;
    if (groups["close"] !== undefined) depth -= 1;
    // A single-line string that is not closed is an error, whatever follows.
    if (groups["string"] !== undefined && !isClosed(whole))
      return index + whole.length === text.length && isLong(whole);
  }
  return depth > 0;
}

/** Whether the last statement is indented: its block may continue. */
export function isInBlock(text: string): boolean {
  if (text.length > MAX_ANALYSED) return false;
  const lines = text.split("\n");
  const continued = continuedLines(text);
  let last = lines.length - 1;
  while (last > 0 && (lines[last]?.trim() === "" || continued.has(last))) last -= 1;
  return /^[ \t]/.test(lines[last] ?? "");
}

/** How many characters Backspace removes: in indentation, back to the previous stop. */
export function backspaceWidth(lineBefore: string): number {
  if (!/^ +$/.test(lineBefore)) return 1;
  return lineBefore.length % INDENT || INDENT;
}

/** The indentation that Tab inserts. */
export function tabText(lineBefore: string): string {
  return " ".repeat(INDENT - (lineBefore.length % INDENT));
}

function kindOf({ groups = {}, index, 0: whole }: RegExpExecArray, text: string): TokenKind | undefined {
  if (groups["comment"] !== undefined) return "comment";
  if (groups["string"] !== undefined) return "string";
  if (groups["number"] !== undefined) return "number";
  if (groups["name"] === undefined) return undefined;
  if (KEYWORDS.has(whole)) return SOFT.has(whole) && !isStatement(text, index) ? undefined : "keyword";
  return BUILTINS.has(whole) && text[index - 1] !== "." ? "builtin" : undefined;
}

function isStatement(text: string, index: number): boolean {
  const start = text.lastIndexOf("\n", index) + 1;
  const line = text.slice(start).split("\n", 1)[0] ?? "";
  return text.slice(start, index).trim() === "" && line.trimEnd().endsWith(":");
}

/** Lines that continue a bracket, a string or a backslash. */
function continuedLines(text: string): Set<number> {
  const found = new Set<number>();
  let depth = 0;
  let line = 0;
  let at = 0;
  const advance = (to: number, isString: boolean): void => {
    for (let end = text.indexOf("\n", at); end !== -1 && end < to; end = text.indexOf("\n", at)) {
      line += 1;
      if (isString || depth > 0 || text[end - 1] === "\\") found.add(line);
      at = end + 1;
    }
    at = Math.max(at, to);
  };
  for (const { index, groups = {}, 0: whole } of text.matchAll(TOKEN)) {
    advance(index, false);
    if (groups["string"] !== undefined) advance(index + whole.length, true);
    if (groups["open"] !== undefined) depth += 1;
    if (groups["close"] !== undefined) depth = Math.max(0, depth - 1);
  }
  advance(text.length, false);
  return found;
}

function isLong(string: string): boolean {
  return /^\w{0,2}(?:"""|''')/.test(string);
}

function isClosed(string: string): boolean {
  const quotes = /"""|'''|"|'/.exec(string)?.[0] ?? "";
  return string.slice(string.indexOf(quotes) + quotes.length).endsWith(quotes);
}

/** The last character outside white space and comments; undefined inside a string and for long text. */
function lastSign(text: string): string | undefined {
  if (text.length > MAX_ANALYSED) return undefined;
  let code = text;
  for (const { index, groups = {}, 0: whole } of text.matchAll(TOKEN)) {
    if (index + whole.length < text.trimEnd().length) continue;
    if (groups["comment"] !== undefined) code = text.slice(0, index);
    if (groups["string"] !== undefined) return undefined;
  }
  return code.trimEnd().at(-1);
}
