import { textWidth } from "../../util/text/text-width.ts";

/** The text as lines of at most this many columns, broken at spaces. A longer word, such as a path, stays whole. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && textWidth(longer) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}
