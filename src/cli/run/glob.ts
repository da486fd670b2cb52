// Patterns of paths: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders. A name that begins with a dot is matched only by a
// pattern that does, too.

const MAGIC = /[*?[{]/;

export function isGlob(path: string): boolean {
  return MAGIC.test(path);
}

/** The folder in which to look, and the paths in it that match. */
export function toGlob(pattern: string): { readonly folder: string; readonly matches: (path: string) => boolean } {
  const parts = pattern.split("/");
  const first = parts.findIndex((part) => MAGIC.test(part));
  const folder = parts.slice(0, first).join("/");
  const expression = new RegExp(`^${parts.slice(first).map(toExpression).join("")}$`, "u");
  return {
    folder: folder === "" ? (pattern.startsWith("/") ? "/" : ".") : folder,
    matches: (path) => expression.test(path),
  };
}

function toExpression(part: string, index: number, parts: readonly string[]): string {
  const isLast = index === parts.length - 1;
  if (part === "**") return isLast ? "(?:(?!\\.)[^/]+/)*(?!\\.)[^/]+" : "(?:(?!\\.)[^/]+/)*";
  const guard = part.startsWith(".") ? "" : "(?!\\.)";
  return `${guard}${toCharacters(part)}${isLast ? "" : "/"}`;
}

function toCharacters(part: string): string {
  const pieces = part.matchAll(/\*+|\?|\[(?<not>[!^]?)(?<set>[^\]]+)\]|\{(?<choice>[^{}]*)\}|[^]/gu);
  return Array.from(pieces, ({ 0: piece, groups = {} }) => {
    if (piece.startsWith("*")) return "[^/]*";
    if (piece === "?") return "[^/]";
    if (groups["set"] !== undefined) {
      return `[${groups["not"] === "" ? "" : "^"}${groups["set"].replaceAll(/[\\[\]^]/g, String.raw`\$&`)}]`;
    }
    if (groups["choice"] !== undefined) return `(?:${groups["choice"].split(",").map(toCharacters).join("|")})`;
    return piece.replace(/[\\^$.*+?()[\]{}|/]/u, String.raw`\$&`);
  }).join("");
}
