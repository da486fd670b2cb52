// A string literal of Python, read where no session is left that could.

const LITERAL = /^("""|'''|"|')((?:\\[^]|(?!\1)[^\\])*)\1$/;
const ESCAPE = /\\(?:(\n)|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g;
const CHARACTERS: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
  0: "\0",
};

/** Undefined: it is no single plain string. */
export function parsePythonString(source: string): string | undefined {
  const [literal, quotes = "", body = ""] = LITERAL.exec(source.trim()) ?? [];
  if (literal === undefined || (quotes.length === 1 && body.includes("\n"))) return undefined;
  return body.replaceAll(ESCAPE, (escape: string, ...groups: readonly (string | undefined)[]) => {
    const [newline, x, u, wide, other = ""] = groups;
    const hex = x ?? u ?? wide;
    if (newline !== undefined) return "";
    return hex === undefined ? (CHARACTERS[other] ?? escape) : toCharacter(Number.parseInt(hex, 16), escape);
  });
}

function toCharacter(code: number, escape: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
}
