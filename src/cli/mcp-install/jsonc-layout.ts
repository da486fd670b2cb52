// The layout of a JSON file, so that additions look like the rest.

import { toLineEnd } from "./config-text.ts";
import { commentEnd, skipBlank, type JSONCMember, type JSONCNode } from "./jsonc-tree.ts";

/** A value formatted as a member of the object. */
export function print(text: string, object: JSONCNode, value: unknown): string {
  const isInline = !text.slice(object.start, object.end).includes("\n") && (object.members?.length ?? 0) > 0;
  if (isInline || isOneLine(text)) return JSON.stringify(value);
  const newline = `${toLineEnd(text)}${indentInside(text, object)}`;
  return JSON.stringify(value, null, indentUnit(text)).replaceAll("\n", newline);
}

/** Minified: everything is on one line. */
export function isOneLine(text: string): boolean {
  return skipBlank(text, 0) < text.length && !/^\{\s*\}$/.test(text.trim()) && !text.trim().includes("\n");
}

export function indentInside(text: string, object: JSONCNode): string {
  const [first] = object.members ?? [];
  const own = first === undefined ? undefined : lineStart(text, first.start);
  if (first !== undefined && own !== undefined) return text.slice(own, first.start).replace(/^\r?\n/, "");
  return `${indentOf(text, object.start)}${indentUnit(text)}`;
}

/** The indentation of the line at the offset. */
export function indentOf(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The first indentation in the file, else two spaces. */
function indentUnit(text: string): string {
  return /\n(?<unit>[ \t]+)"/.exec(text)?.groups?.["unit"] ?? "  ";
}

/** The offset of the line end before, if only white space is between; else undefined. */
export function lineStart(text: string, offset: number): number | undefined {
  const before = /\r?\n[ \t]*$/.exec(text.slice(0, offset));
  return before?.index;
}

/** The end of a member's line: after its comma and the comments beside it. */
export function lineRest(text: string, { node, comma }: JSONCMember): number {
  let at = (comma ?? node.end - 1) + 1;
  for (;;) {
    const blank = at + text.slice(at).search(/[^ \t]|$/);
    const end = commentEnd(text, blank);
    if (end === undefined || text.slice(blank, end).includes("\n")) return at;
    at = end;
  }
}
