// What one reply of a node's model asks for, read while it streams in.
//
// Code comes first: an answer beside code that has not run yet would be a guess. A reply that asks for nothing gets a hint.

import type { FinishReason } from "../../protocol/usage.ts";
import { CodeScanner, type IsComplete } from "./code-block.ts";
import { findFinal } from "./final-call.ts";

export type Reading = {
  /** What stays of the reply in the conversation: nothing that follows its code. */
  readonly kept: string;
} & (
  | { readonly kind: "code"; readonly code: string }
  /** The answer is the value of this variable. */
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "answer"; readonly text: string }
  /** `hint`: what the model is shown. */
  | { readonly kind: "nothing"; readonly hint: string }
);

export class ReplyReader {
  readonly #isComplete: IsComplete;
  #scanner: CodeScanner;

  constructor(isComplete: IsComplete) {
    this.#isComplete = isComplete;
    this.#scanner = new CodeScanner(isComplete);
  }

  /** Takes the next piece of the text. True: the first block of code is complete, and what follows is not wanted. */
  push(text: string): boolean {
    return this.#scanner.push(text) !== undefined;
  }

  /** The text so far is void. */
  restart(): void {
    this.#scanner = new CodeScanner(this.#isComplete);
  }

  /** Call once, at the end, with the whole text. */
  async end(text: string, finishReason: FinishReason): Promise<Reading> {
    const scanned = await this.#scanner.end(finishReason);
    if (scanned.kind === "code") {
      const { code, end } = scanned.block;
      return { kind: "code", code, kept: text.slice(0, end) };
    }
    const final = findFinal(text);
    if (final.kind === "none") return { kind: "nothing", hint: final.hint ?? scanned.hint, kept: text };
    if (final.kind === "variable") return { kind: "variable", name: final.name, kept: text };
    return { kind: "answer", text: final.text, kept: text };
  }
}
