// Where a text that streams in stands in terms of Markdown: at the beginning of a line, in a fenced block, in inline code.

import { type Fence, isClosing, parseOpening } from "./fence-line.ts";

/** No fence is longer. */
const MAX_LINE = 1_000;

export class MarkdownPosition {
  /** The current line so far, or its beginning. */
  #line = "";
  #backticks = 0;
  #fence: Fence | undefined;

  /** Only white space is before it on its line. */
  get isLineStart(): boolean {
    return this.#line.trim() === "";
  }

  get isInFence(): boolean {
    return this.#fence !== undefined;
  }

  get isInInlineCode(): boolean {
    return this.#fence === undefined && this.#backticks % 2 === 1;
  }

  feed(text: string): void {
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      this.#add(text.slice(from, to));
      this.#endLine();
      from = to + 1;
    }
    this.#add(text.slice(from));
  }

  #add(text: string): void {
    if (text === "") return;
    for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", at + 1)) this.#backticks += 1;
    if (this.#line.length < MAX_LINE) this.#line += text;
  }

  #endLine(): void {
    const line = this.#line.endsWith("\r") ? this.#line.slice(0, -1) : this.#line;
    this.#line = "";
    this.#backticks = 0;
    if (line.length > MAX_LINE) return;
    if (this.#fence === undefined) this.#fence = parseOpening(line);
    else if (isClosing(line, this.#fence)) this.#fence = undefined;
  }
}
