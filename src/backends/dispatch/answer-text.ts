// What came of an answer so far: its text, its reasoning, and what followed after it was cut.

import { WordCount } from "../estimate-tokens.ts";
import type { Piece } from "../reasoning/reasoning-splitter.ts";

/** Tokens of spaces are the longest. */
const MAX_CHARACTERS_PER_TOKEN = 128;

export class AnswerText {
  #text = "";
  #reasoning = "";
  #afterCut = "";
  #isCut = false;
  readonly #words = new WordCount();

  get text(): string {
    return this.#text;
  }

  get reasoning(): string {
    return this.#reasoning;
  }

  /** It is no part of the answer, but was written. */
  get afterCut(): string {
    return this.#afterCut;
  }

  /** False again after a reclassification, which makes it all reasoning. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get length(): number {
    return this.#text.length + this.#reasoning.length + this.#afterCut.length;
  }

  /** It cannot have fewer tokens. */
  get leastTokens(): number {
    return Math.max(this.#words.words, Math.floor(this.length / MAX_CHARACTERS_PER_TOKEN));
  }

  add(piece: Piece): void {
    if (piece.type !== "reclassify") this.#words.add(piece.text);
    if (piece.type === "reclassify") this.#reclassify(piece.as);
    else if (this.#isCut) this.#afterCut += piece.text;
    else if (piece.type === "text-delta") this.#text += piece.text;
    else this.#reasoning += piece.text;
  }

  cut(): void {
    this.#isCut = true;
  }

  #reclassify(as: "text" | "reasoning"): void {
    const all = this.#reasoning + this.#text + this.#afterCut;
    this.#text = as === "text" ? all : "";
    this.#reasoning = as === "text" ? "" : all;
    this.#afterCut = "";
    this.#isCut = false;
  }
}
