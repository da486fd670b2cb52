// How a JSON file is laid out, so that what is put in looks like what is there.

import { toLineEnd } from "./config-text.ts";
import { commentEnd, skipBlank, type JSONCMember, type JSONCNode } from "./jsonc-tree.ts";

/** A value as a member of that object. */
export function print(text: string, object: JSONCNode, value: unknown): string {
  if (isOneLine(text)) return JSON.stringify(value);
  const isInline = !text.slice(object.start, object.end).includes("\n") && (object.members?.length ?? 0) > 0;
  if (isInline) return JSON.stringify(value);
  return JSON.stringify(value, null, indentUnit(text)).replaceAll(
    "\n",
    `${toLineEnd(text)}${indentInside(text, object)}`,
  );
}

/** Written for machines: everything on one line. */
export function isOneLine(text: string): boolean {
  return skipBlank(text, 0) < text.length && !/^\{\s*\}$/.test(text.trim()) && !text.trim().includes("\n");
}

export function indentInside(text: string, object: JSONCNode): string {
  const [first] = object.members ?? [];
  const own = first === undefined ? undefined : lineStart(text, first.start);
  if (first !== undefined && own !== undefined) return text.slice(own, first.start).replace(/^\r?\n/, "");
  return `${indentOf(text, object.start)}${indentUnit(text)}`;
}

/** What the line that this is on begins with. */
export function indentOf(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The indentation of the first member of the file that is indented; two spaces where none is. */
function indentUnit(text: string): string {
  return /\n(?<unit>[ \t]+)"/.exec(text)?.groups?.["unit"] ?? "  ";
}

/** The line end before an offset that only white space is between; undefined where there is something else. */
export function lineStart(text: string, offset: number): number | undefined {
  const before = /\r?\n[ \t]*$/.exec(text.slice(0, offset));
  return before?.index;
}

/** Where the line of a member ends: after its comma and the comments beside it. */
export function lineRest(text: string, { node, comma }: JSONCMember): number {
  let at = (comma ?? node.end - 1) + 1;
  for (;;) {
    const blank = at + text.slice(at).search(/[^ \t]|$/);
    const end = commentEnd(text, blank);
    if (end === undefined || text.slice(blank, end).includes("\n")) return at;
    at = end;
  }
}
