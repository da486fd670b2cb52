// Finds the first runnable block of code in a message while the message still streams in.
//
// What follows the block is not wanted: a model that continues invents the output of its code. A fence inside a Python string
// closes nothing. A block that is left open at the end is run only where it is certainly complete.

import type { FinishReason } from "../../protocol/usage.ts";
import {
  type Fence,
  indentOf,
  isClosing,
  parseOneLine,
  parseOpening,
  unindent,
  withoutFenceAtEnd,
} from "../../util/markdown/fence-line.ts";
import { HOW, isDataTag, isRunnableTag, whyNotRun } from "./block-tags.ts";
import { TripleQuotes } from "./triple-quotes.ts";

export interface CodeBlock {
  readonly code: string;
  /** In lower case; empty: none. */
  readonly tag: string;
  /** The span in the message, from the opening fence to the end of the closing fence's line. */
  readonly start: number;
  readonly end: number;
}

export type ScanEnd =
  | { readonly kind: "code"; readonly block: CodeBlock }
  /** `hint`: what the model is shown, since nothing was run. */
  | { readonly kind: "none"; readonly reason: NoCodeReason; readonly hint: string };

export type NoCodeReason = "no-code" | "data" | "not-runnable" | "empty" | "unclosed" | "cut-off";

/** Whether code is complete and parses as Python. */
export type IsComplete = (code: string) => boolean | Promise<boolean>;

const MAX_CANDIDATES = 32;

export class CodeScanner {
  readonly #isComplete: IsComplete;
  /** The beginning of an incomplete line. */
  #line = "";
  /** Its offset in the message. */
  #lineStart = 0;
  #open: OpenBlock | undefined;
  #found: CodeBlock | undefined;
  #skippedTag: string | undefined;
  #hasEmpty = false;

  constructor(isComplete: IsComplete) {
    this.#isComplete = isComplete;
  }

  /** Takes the next piece of the message. Returns the block as soon as it is closed; text after that is ignored. */
  push(text: string): CodeBlock | undefined {
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0 && this.#found === undefined; to = text.indexOf("\n", from)) {
      this.#take(this.#line + text.slice(from, to), 1);
      from = to + 1;
    }
    if (this.#found === undefined) this.#line += text.slice(from);
    return this.#found;
  }

  /** Call at the end of the message. */
  async end(finishReason: FinishReason): Promise<ScanEnd> {
    if (this.#found === undefined && this.#line !== "") this.#take(this.#line, 0);
    if (this.#found === undefined && this.#open?.isRunnable === true) {
      this.#found = await this.#open.closeAtEnd(this.#lineStart, finishReason, this.#isComplete);
    }
    if (this.#found !== undefined) return { kind: "code", block: this.#found };
    const [reason, why] = this.#whyNone(finishReason);
    return { kind: "none", reason, hint: `Nothing was run: ${why}` };
  }

  #take(line: string, newline: number): void {
    const start = this.#lineStart;
    this.#line = "";
    this.#lineStart += line.length + newline;
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (this.#open === undefined) this.#takeText(text, start);
    else if (this.#open.isRunnable) this.#takeCode(this.#open, text, start);
    else if (isClosing(text, this.#open.fence)) this.#open = undefined;
  }

  #takeText(line: string, start: number): void {
    const { tag = "", text = "" } = parseOneLine(line) ?? {};
    if (tag === "" || !isRunnableTag(tag)) this.#begin(parseOpening(line), start);
    else this.#found = { code: text, tag, start, end: this.#lineStart };
  }

  #begin(fence: Fence | undefined, start: number): void {
    if (fence === undefined) return;
    this.#open = new OpenBlock(fence, start);
    if (!this.#open.isRunnable) this.#skippedTag ??= fence.tag;
  }

  #takeCode(open: OpenBlock, line: string, start: number): void {
    if (open.isInString) return open.take(line, this.#lineStart);
    const inner = parseOpening(line, { isInText: false });
    const closes = isClosing(line, open.fence);
    if (open.isBlank) {
      // A fence directly inside a fence: the outer one is decoration.
      if (inner !== undefined && (inner.tag !== "" || open.fence.tag === "")) return this.#begin(inner, open.start);
      if (!closes) return open.take(line, this.#lineStart);
      this.#hasEmpty = true;
      this.#open = undefined;
      return;
    }
    if (closes) this.#found = open.toBlock(this.#lineStart);
    // No Python line begins like this: the closing fence was forgotten.
    else if (inner !== undefined && inner.tag !== "") this.#found = open.toBlock(start);
    else open.take(line, this.#lineStart);
  }

  #whyNone(finishReason: FinishReason): readonly [NoCodeReason, string] {
    const isCutOff = finishReason === "length";
    if (this.#open?.isRunnable === true && !this.#open.isBlank) {
      if (!isCutOff) return ["unclosed", `the block of code has no closing fence and is no complete Python. ${HOW}`];
      return ["cut-off", "your message reached its limit of tokens in the middle of the code. Do it in smaller steps"];
    }
    const skipped = this.#skippedTag;
    if (skipped !== undefined) return [isDataTag(skipped) ? "data" : "not-runnable", whyNotRun(skipped)];
    if (this.#hasEmpty || this.#open !== undefined) return ["empty", `the block of code is empty. ${HOW}`];
    if (isCutOff) return ["cut-off", `your message reached its limit of tokens before any code. Be brief. ${HOW}`];
    return ["no-code", `your message has no block of code. If it is your answer, give it with FINAL(...). ${HOW}`];
  }
}

/** A line that may have been meant to close the block. */
interface Candidate {
  /** How many lines are code, and the rest of the line after them. */
  readonly lines: number;
  readonly last: string | undefined;
  readonly end: number;
  /** A proper closing fence, but inside a string. */
  readonly isFence: boolean;
}

class OpenBlock {
  readonly fence: Fence;
  readonly start: number;
  readonly isRunnable: boolean;
  readonly #lines: string[] = [];
  readonly #strings = new TripleQuotes();
  readonly #candidates: Candidate[] = [];
  #indent: number | undefined;

  constructor(fence: Fence, start: number) {
    this.fence = fence;
    this.start = start;
    this.isRunnable = isRunnableTag(fence.tag);
  }

  get isInString(): boolean {
    return this.#strings.isOpen;
  }

  get isBlank(): boolean {
    return this.#indent === undefined;
  }

  /** `end`: the offset after the line. */
  take(line: string, end: number): void {
    if (this.#candidates.length < MAX_CANDIDATES) this.#lookForEnd(line, end);
    if (line.trim() !== "") this.#indent ??= Math.min(this.fence.indent, indentOf(line));
    this.#lines.push(unindent(line, this.#indent ?? 0));
    this.#strings.feed(line);
  }

  toBlock(end: number, code = this.#lines.join("\n")): CodeBlock {
    return { code, tag: this.fence.tag, start: this.start, end };
  }

  /** The whole rest where it is complete code, else up to the first line that may have been meant to close the block. */
  async closeAtEnd(end: number, finishReason: FinishReason, isComplete: IsComplete): Promise<CodeBlock | undefined> {
    if (this.isBlank) return undefined;
    const whole = this.toBlock(end);
    if (finishReason !== "length" && (await isComplete(whole.code))) return whole;
    for (const candidate of this.#candidates) {
      const block = this.#toCandidateBlock(candidate);
      if (await isComplete(block.code)) return block;
    }
    // A string that is never closed: Python reports it best.
    const fence = this.#candidates.find(({ isFence }) => isFence);
    return fence !== undefined && finishReason !== "length" ? this.#toCandidateBlock(fence) : undefined;
  }

  #toCandidateBlock({ lines, last, end }: Candidate): CodeBlock {
    const code = this.#lines.slice(0, lines);
    return this.toBlock(end, [...code, ...(last === undefined ? [] : [last])].join("\n"));
  }

  #lookForEnd(line: string, end: number): void {
    const isFence = isClosing(line, this.fence);
    const last = isFence ? undefined : withoutFenceAtEnd(line, this.fence);
    if (!isFence && last === undefined) return;
    const code = last === undefined ? undefined : unindent(last, this.#indent ?? this.fence.indent);
    this.#candidates.push({ lines: this.#lines.length, last: code, end, isFence });
  }
}
