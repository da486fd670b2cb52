// Names in Python: which are valid for variables, and lists of modules.

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield __debug__"
  ).split(" "),
);
const IDENTIFIER = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;

/** Expects a name that is NFKC-normalised, as Python does. */
export function isPythonName(name: string): boolean {
  return IDENTIFIER.test(name) && !KEYWORDS.has(name);
}

/** Modules as an environment variable names them, separated by commas or spaces. `none`: an empty list. Empty or absent: undefined. */
export function parseModuleList(text: string | undefined): string[] | undefined {
  const names = (text ?? "").split(/[\s,]+/).filter((name) => name !== "");
  if (names.length === 0) return undefined;
  return names.length === 1 && names[0] === "none" ? [] : names;
}
