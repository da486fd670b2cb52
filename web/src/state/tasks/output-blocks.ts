// What a command printed, in pieces of some lines each, so that a page shows a part of it without touching the rest.
//
// A progress bar that overwrites its line stays one line. A colour that was set in one piece still holds in the next. What is kept has a
// bound: the oldest pieces go, and how much that was is counted.

export interface OutputBlock {
  readonly key: number;
  /** `both`: which one it was is not known. */
  readonly stream: "stdout" | "stderr" | "both";
  readonly text: string;
  /** Escape sequences that set the colours at its beginning. */
  readonly style: string;
  /** How many line ends are in it. */
  readonly lines: number;
}

type Stream = OutputBlock["stream"];

/** A block ends after the first line that reaches this, or after so many lines. */
const BLOCK_CHARACTERS = 4_000;
const BLOCK_LINES = 40;
/** A line that is longer than this is broken. */
const MAX_BLOCK_CHARACTERS = 32_000;
const MAX_STYLE_CHARACTERS = 200;
/** Of a command that changes between its streams with every character. */
const MAX_BLOCKS = 50_000;

export class OutputBlocks {
  readonly #maxCharacters: number;
  readonly #blocks: OutputBlock[] = [];
  /** After the last block of each stream. */
  readonly #styles = new Map<Stream, string>();
  #characters = 0;
  #droppedBytes = 0;
  #lineCount = 0;
  #lastKey = 0;
  #firstKey = 0;

  constructor({ maxCharacters = 2_000_000 }: { readonly maxCharacters?: number } = {}) {
    this.#maxCharacters = maxCharacters;
  }

  /** A copy. */
  get blocks(): readonly OutputBlock[] {
    return [...this.#blocks];
  }

  /** What went at the beginning, as UTF-8. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** How many lines were appended so far. */
  get lineCount(): number {
    return this.#lineCount;
  }

  append(stream: Stream, text: string): void {
    for (let rest = text; rest !== "";) rest = this.#fill(stream, rest);
    this.#drop();
  }

  /** Puts in front what was printed before the first block. It does not count for the bound: the reader asked for it. */
  prepend(text: string): void {
    const earlier = new OutputBlocks({ maxCharacters: Infinity });
    earlier.append("both", text);
    const blocks = earlier.#blocks.map((block) => ({ ...block, key: block.key + this.#firstKey - earlier.#lastKey }));
    this.#firstKey -= earlier.#lastKey;
    this.#blocks.unshift(...blocks);
  }

  /** Adds a part to the last block, or begins one. Returns what is left. */
  #fill(stream: Stream, text: string): string {
    const last = this.#blocks.at(-1);
    const block = last !== undefined && isOpen(last, stream) ? last : this.#begin(stream);
    const wanted = takeLines(text, BLOCK_CHARACTERS - block.text.length, BLOCK_LINES - block.lines);
    const end = Math.min(wanted.end, MAX_BLOCK_CHARACTERS - block.text.length);
    const lines = end === wanted.end ? wanted.lines : countLines(text.slice(0, end));
    const filled = { ...block, text: overwriteLines(block.text + text.slice(0, end)), lines: block.lines + lines };
    this.#characters += filled.text.length - block.text.length;
    this.#lineCount += lines;
    this.#blocks[this.#blocks.length - 1] = filled;
    return text.slice(end);
  }

  #begin(stream: Stream): OutputBlock {
    const before = this.#blocks.findLast((block) => block.stream === stream);
    if (before !== undefined) this.#styles.set(stream, styleAfter(before.style, before.text));
    this.#lastKey += 1;
    const block = { key: this.#lastKey, stream, text: "", lines: 0, style: this.#styles.get(stream) ?? "" };
    this.#blocks.push(block);
    return block;
  }

  #drop(): void {
    while ((this.#characters > this.#maxCharacters && this.#blocks.length > 1) || this.#blocks.length > MAX_BLOCKS) {
      const [first] = this.#blocks.splice(0, 1);
      if (first === undefined) return;
      this.#characters -= first.text.length;
      this.#droppedBytes += new TextEncoder().encode(first.text).length;
    }
  }
}

function isOpen({ stream, text, lines }: OutputBlock, wanted: Stream): boolean {
  if (stream !== wanted || text.length >= MAX_BLOCK_CHARACTERS) return false;
  return !text.endsWith("\n") || (text.length < BLOCK_CHARACTERS && lines < BLOCK_LINES);
}

/** Where the line ends that reaches one of two bounds, and how many lines that is. */
function takeLines(text: string, characters: number, most: number): { readonly end: number; readonly lines: number } {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    lines += 1;
    if (at + 1 >= characters || lines >= most) return { end: at + 1, lines };
  }
  return { end: text.length, lines };
}

function countLines(text: string): number {
  return takeLines(text, Infinity, Infinity).lines;
}

/** As a terminal would leave it: what follows a carriage return takes the place of its line. */
export function overwriteLines(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line, index, lines) => overwriteLine(line, index < lines.length - 1))
    .join("\n");
}

/** A return at the very end stays while the line is open: what follows is not known yet. */
function overwriteLine(line: string, hasEnded: boolean): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end -= 1;
  const start = line.lastIndexOf("\r", end - 1) + 1;
  return line.slice(start, end) + (!hasEnded && end < line.length ? "\r" : "");
}

// oxlint-disable-next-line no-control-regex -- it is what terminals read
const STYLE = /\u001b\[([\d;:]*)m/g;

/** The sequences that set the colours after a text. */
export function styleAfter(style: string, text: string): string {
  let after = style;
  for (const [sequence, codes = ""] of text.matchAll(STYLE)) {
    const isReset = codes === "" || /^0*(;|$)/.test(codes);
    after = (isReset ? "" : after) + (codes === "" || /^0*$/.test(codes) ? "" : sequence);
    if (after.length > MAX_STYLE_CHARACTERS) after = sequence.length > MAX_STYLE_CHARACTERS ? "" : sequence;
  }
  return after;
}
