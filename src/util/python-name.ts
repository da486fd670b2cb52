// Which names are valid for Python variables.

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
