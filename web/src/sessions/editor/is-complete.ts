// Whether Enter should run the code: a heuristic on its text. The session decides when it runs.
//
// Code of one line runs when nothing is open. A block runs when an empty line ends it, as at Python's own prompt.

const TOKEN = new RegExp(
  [
    String.raw`(?<comment>#[^\n]*)`,
    String.raw`(?<string>(?:"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?!"")(?:\\[\s\S]|[^"\\\n])*"?|'(?!'')(?:\\[\s\S]|[^'\\\n])*'?))`,
    String.raw`(?<quote>"""|''')`,
    String.raw`(?<open>[([{])`,
    String.raw`(?<close>[)\]}])`,
  ].join("|"),
  "gu",
);
/** Longer code is pasted, and runs. */
const MAX_CHARACTERS = 50_000;

export function isComplete(code: string): boolean {
  if (code.trim() === "" || code.length > MAX_CHARACTERS) return true;
  if (isInside(code)) return false;
  const lines = code.split("\n");
  const last = lines.at(-1) ?? "";
  if (last.trim() === "" && lines.length > 1) return !opensBlock(code.trimEnd());
  if (last.endsWith("\\") || opensBlock(code)) return false;
  if (code.startsWith("%%")) return false;
  // A line of a block, or one that continues a decorated definition.
  return lines.length === 1 ? !last.startsWith("@") : !/^[ \t]/.test(last) && !isClause(last);
}

/** Inside a bracket or a string of several lines. */
function isInside(code: string): boolean {
  let depth = 0;
  for (const { groups = {} } of code.matchAll(TOKEN)) {
    if (groups["quote"] !== undefined) return true;
    if (groups["open"] !== undefined) depth += 1;
    else if (groups["close"] !== undefined) depth = Math.max(0, depth - 1);
  }
  return depth > 0;
}

function opensBlock(code: string): boolean {
  const line = code.slice(code.lastIndexOf("\n") + 1);
  const bare = line.replaceAll(TOKEN, (found, ...rest) => (isComment(rest) ? "" : found));
  return /:[ \t]*$/.test(bare) || bare.trim().startsWith("@");
}

function isComment(rest: readonly unknown[]): boolean {
  const groups = rest.at(-1) as { readonly comment?: string } | undefined;
  return groups?.comment !== undefined;
}

/** `else: x`, which may be followed by more of the block. */
function isClause(line: string): boolean {
  return /^(?:else|elif|except|finally)\b/.test(line);
}
