// The fenced blocks of a text in Markdown.

import { type Fence, isClosing, parseOpening } from "./fence-line.ts";

export interface FencedBlock {
  /** In lower case; empty: none. */
  readonly tag: string;
  readonly text: string;
}

/** The blocks, and the lines outside of them. A block that is not closed reaches to the end. */
export function splitBlocks(text: string): { readonly blocks: readonly FencedBlock[]; readonly outside: string } {
  const blocks: FencedBlock[] = [];
  const outside: string[] = [];
  let open: { readonly fence: Fence; readonly lines: string[] } | undefined;
  const close = (): void => {
    if (open !== undefined) blocks.push({ tag: open.fence.tag, text: open.lines.join("\n") });
    open = undefined;
  };
  for (const line of text.split(/\r?\n/)) {
    const fence = open === undefined ? parseOpening(line) : undefined;
    if (fence !== undefined) open = { fence, lines: [] };
    else if (open === undefined) outside.push(line);
    else if (isClosing(line, open.fence)) close();
    else open.lines.push(line);
  }
  close();
  return { blocks, outside: outside.join("\n").trim() };
}
