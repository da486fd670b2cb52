// Splits text that streams in into text and reasoning, by the markers that models put around their reasoning.
//
// A marker counts at the beginning of the reply or of a line, outside of blocks of code: elsewhere a reply speaks of it. A reply may also
// begin inside its reasoning, because the server's template wrote the opening marker. Then the first closing marker tells that all text
// before it was reasoning. However the text is cut into pieces, the result is the same.

import type { FinishReason } from "../../protocol/usage.ts";
import { MarkdownPosition } from "../../util/markdown/markdown-position.ts";
import {
  type Match,
  matchClosing,
  matchOne,
  matchOpening,
  matchSeriesEnd,
  nextCandidate,
  type Opening,
} from "./reasoning-markers.ts";

export type Piece =
  | { readonly type: "text-delta" | "reasoning-delta"; readonly text: string }
  /** All that was text so far is reasoning, or all that was reasoning so far is text. */
  | { readonly type: "reclassify"; readonly as: "text" | "reasoning" };

/** `leading`: replies begin inside their reasoning, without an opening marker. `plain`: they do not. */
export type ReasoningHabit = "leading" | "plain";

export interface SplitterOptions {
  /** What the model did before. Undefined: not known. */
  readonly habit: ReasoningHabit | undefined;
  /** Whether the request asks for this marker as a part of the answer. */
  readonly isAskedFor: (marker: string) => boolean;
  /** Called when the reply shows a habit. */
  readonly onHabit: (habit: ReasoningHabit) => void;
}

/** A marker that counts. */
interface Marker {
  readonly length: number;
  readonly kind: "opening" | "closing" | "left-out";
  readonly opening?: Opening;
}

const MAX_BLANK = 1000;

export class ReasoningSplitter {
  readonly #options: SplitterOptions;
  #position = new MarkdownPosition();
  /** Undefined: in the text. `leading`: in reasoning that has no opening marker. */
  #inside: Opening | "leading" | undefined;
  /** The end of what came, where it may be the beginning of a marker. */
  #held = "";
  /** White space at the beginning of the text, kept back: after reasoning it is left out. Undefined: the text has begun. */
  #blank: string | undefined = "";
  #pieces: Piece[] = [];
  /** Nothing came but white space. */
  #isStart = true;
  #hasReasoning = false;
  #isMarked = false;
  #isSeries = false;
  /** The text has an opening marker that does not count, so it may have a closing one, too. */
  #isSpokenOf = false;

  constructor(options: SplitterOptions) {
    this.#options = options;
    if (options.habit === "leading") this.#inside = "leading";
  }

  /** Nothing tells so far whether the text is reasoning without an opening marker. */
  get isUndecided(): boolean {
    return this.#options.habit === undefined && !this.#hasReasoning;
  }

  /** The provider sent reasoning of its own accord, apart from the text. */
  noteReasoning(): void {
    this.#hasReasoning = true;
    if (this.#isStart) this.#inside = undefined;
  }

  /** What else tells the habit of the model. */
  settle(habit: ReasoningHabit): void {
    this.#options.onHabit(habit);
  }

  push(text: string): readonly Piece[] {
    this.#pieces = [];
    let rest = this.#held + text;
    this.#held = "";
    while (rest !== "") {
      rest = this.#inside === undefined ? this.#readText(rest) : this.#readReasoning(rest, this.#inside);
    }
    return this.#pieces;
  }

  /** Call once. */
  end(finishReason: FinishReason): readonly Piece[] {
    this.#pieces = [];
    if (this.#inside === undefined) this.#addText(this.#held);
    else this.#addReasoning(this.#held);
    const isComplete = finishReason === "stop";
    if (this.#inside === "leading" && finishReason !== "length") this.#pieces.push({ type: "reclassify", as: "text" });
    if (isComplete && !this.#hasReasoning) this.#options.onHabit("plain");
    if (!this.#isMarked && this.#blank !== undefined && this.#blank !== "") this.#flushBlank(this.#blank);
    return this.#pieces;
  }

  /** Returns what is left to be read. */
  #readText(input: string): string {
    let fed = 0;
    for (let at = nextCandidate(input, 0); at >= 0; at = nextCandidate(input, fed)) {
      this.#position.feed(input.slice(fed, at));
      fed = at;
      const marker = this.#markerAt(input, at);
      if (marker !== undefined) {
        this.#addText(input.slice(0, at));
        if (marker === "partial") return this.#hold(input.slice(at));
        this.#apply(marker);
        return input.slice(at + marker.length);
      }
      this.#position.feed(input.charAt(at));
      fed = at + 1;
    }
    this.#position.feed(input.slice(fed));
    this.#addText(input);
    return "";
  }

  #hold(rest: string): "" {
    this.#held = rest;
    return "";
  }

  /** The marker that counts here. */
  #markerAt(input: string, at: number): Match<Marker> {
    const opening = matchOpening(input, at);
    const closing = matchClosing(input, at);
    const end = this.#isSeries ? matchSeriesEnd(input, at) : undefined;
    if (typeof opening === "object") {
      if (this.#isOpening(opening)) return { kind: "opening", length: opening.marker.length, opening };
      this.#isSpokenOf = true;
      return undefined;
    }
    if (opening === "partial" || closing === "partial" || end === "partial") return "partial";
    if (closing !== undefined && this.#isClosing()) return { kind: "closing", length: closing.length };
    return end === undefined || this.#position.isInFence ? undefined : { kind: "left-out", length: end.length };
  }

  #isOpening({ marker }: Opening): boolean {
    const { isLineStart, isInFence } = this.#position;
    return isLineStart && !isInFence && !this.#options.isAskedFor(marker);
  }

  /** Reasoning may leave a block of code open, but no line of Python begins with a marker. */
  #isClosing(): boolean {
    const { isLineStart, isInFence, isInInlineCode } = this.#position;
    return !this.#isSpokenOf && (isInFence ? isLineStart : !isInInlineCode);
  }

  #apply({ kind, opening }: Marker): void {
    this.#position = new MarkdownPosition();
    if (opening !== undefined) {
      this.#isSeries ||= opening.isPartOfSeries;
      if (opening.closings === undefined) return;
      this.#isMarked = true;
      this.#hasReasoning = true;
      this.#inside = opening;
    } else if (kind === "closing") {
      const isText = this.#blank === undefined;
      if (isText) this.#pieces.push({ type: "reclassify", as: "reasoning" });
      if (isText && !this.#isMarked) this.#options.onHabit("leading");
      this.#hasReasoning = true;
      this.#isMarked = true;
      this.#blank = "";
    }
  }

  /** Returns what is left to be read. */
  #readReasoning(input: string, inside: Opening | "leading"): string {
    for (let at = nextCandidate(input, 0); at >= 0; at = nextCandidate(input, at + 1)) {
      const isFirst = this.#isStart && input.slice(0, at).trim() === "";
      const opening = inside === "leading" && isFirst ? matchOpening(input, at) : undefined;
      const closing = inside === "leading" ? matchClosing(input, at) : matchOne(input, at, inside.closings ?? []);
      if (opening === undefined && closing === undefined) continue;
      this.#addReasoning(input.slice(0, at));
      if (opening === "partial" || closing === "partial") return this.#hold(input.slice(at));
      this.#inside = undefined;
      if (opening !== undefined) return input.slice(at);
      if (inside === "leading") this.#options.onHabit("leading");
      this.#isMarked = true;
      this.#hasReasoning = true;
      this.#position = new MarkdownPosition();
      const isHeader = inside !== "leading" && inside.isPartOfSeries && matchSeriesEnd(input, at) === undefined;
      return input.slice(isHeader ? at : at + (closing?.length ?? 0));
    }
    this.#addReasoning(input);
    return "";
  }

  #addReasoning(text: string): void {
    if (text === "") return;
    this.#isStart &&= text.trim() === "";
    this.#pieces.push({ type: "reasoning-delta", text });
  }

  #addText(text: string): void {
    if (text === "") return;
    if (this.#blank === undefined) {
      this.#pieces.push({ type: "text-delta", text });
      return;
    }
    const all = this.#blank + text;
    const trimmed = all.trimStart();
    if (trimmed === "" && all.length <= MAX_BLANK) {
      this.#blank = all;
      return;
    }
    this.#isStart &&= trimmed === "";
    this.#flushBlank(this.#isMarked ? trimmed : all);
  }

  #flushBlank(text: string): void {
    this.#blank = undefined;
    if (text !== "") this.#pieces.push({ type: "text-delta", text });
  }
}
