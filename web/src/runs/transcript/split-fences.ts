// The blocks of code in a text, by their fences. To be shown: what runs is decided by the orchestrator.

export interface TextBlock {
  readonly text: string;
  /** Between fences, with them. */
  readonly isCode: boolean;
}

const FENCE = /^(?:`{3,}|~{3,})[^\n]*\n?/gm;

/** All of the text, in order. A block that is not closed ends with it. */
export function splitFences(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let start = 0;
  let isCode = false;
  const add = (end: number): void => {
    if (end > start) blocks.push({ text: text.slice(start, end), isCode });
    start = end;
  };
  for (const { index, 0: fence } of text.matchAll(FENCE)) {
    add(isCode ? index + fence.length : index);
    isCode = !isCode;
  }
  add(text.length);
  return blocks;
}
