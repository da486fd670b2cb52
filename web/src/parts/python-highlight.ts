// Which parts of Python code are what, for reading it. The editor uses the same colours.

import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
import { parser } from "@lezer/python";

export type CodeKind =
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "definition"
  | "builtin"
  | "operator"
  | "decorator";

export interface CodePart {
  readonly text: string;
  /** Undefined: ordinary text. */
  readonly kind: CodeKind | undefined;
}

const kinds = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], class: "keyword" },
  { tag: [tags.string, tags.special(tags.string), tags.escape], class: "string" },
  { tag: [tags.number], class: "number" },
  { tag: [tags.bool, tags.null, tags.self], class: "builtin" },
  { tag: tags.comment, class: "comment" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], class: "definition" },
  { tag: tags.meta, class: "decorator" },
]);

/** In order. Together they are the code. */
export function highlightPython(code: string): readonly CodePart[] {
  const parts: CodePart[] = [];
  highlightCode(
    code,
    parser.parse(code),
    kinds,
    (text, classes) => parts.push({ text, kind: classes === "" ? undefined : (classes.split(" ", 1)[0] as CodeKind) }),
    () => parts.push({ text: "\n", kind: undefined }),
  );
  return parts;
}
