// What one reply of a node's model asks for, read while it streams in.
//
// Code comes first: an answer beside code that has not run yet would be a guess. A reply that asks for nothing gets a hint.

import type { CachedAnswer } from "../../protocol/usage.ts";
import { CodeScanner, HOW, type IsComplete } from "./code-block.ts";
import { findFinal } from "./final-call.ts";

export type Reading = {
  /** What stays of the reply in the conversation: nothing that follows its code. */
  readonly kept: string;
} & (
  | { readonly kind: "code"; readonly code: string }
  /** The answer is the value of this variable. */
  | { readonly kind: "variable"; readonly name: string }
  /** FINAL(...) in plain text: what is between its brackets. */
  | { readonly kind: "final"; readonly source: string }
  /** `hint`: what the model is shown. */
  | { readonly kind: "nothing"; readonly hint: string }
);

export type ReplyTexts = Pick<CachedAnswer, "text" | "reasoning" | "finishReason">;

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

  /** Call once, at the end, with all of it. */
  async end(reply: ReplyTexts): Promise<Reading> {
    const { text, finishReason } = reply;
    if (text.trim() === "") return { kind: "nothing", hint: toEmptyHint(reply), kept: "" };
    const scanned = await this.#scanner.end(finishReason);
    if (scanned.kind === "code") {
      const { code, end } = scanned.block;
      return { kind: "code", code, kept: text.slice(0, end) };
    }
    const final = findFinal(text);
    if (final.kind === "none") return { kind: "nothing", hint: final.hint ?? scanned.hint, kept: text };
    if (final.kind === "variable") return { kind: "variable", name: final.name, kept: text };
    if (final.kind === "fields") {
      if (await this.#isComplete(final.code)) return { kind: "code", code: final.code, kept: text };
      return { kind: "nothing", hint: `SUBMIT(...) was not read: it is not valid Python. ${HOW}`, kept: text };
    }
    return { kind: "final", source: final.text, kept: text };
  }
}

function toEmptyHint({ reasoning, finishReason }: ReplyTexts): string {
  if (finishReason !== "length")
    return `Nothing was run: your message is empty, but for what you may have reasoned. ${HOW}`;
  const what =
    reasoning === ""
      ? "reached its limit of tokens before it said anything"
      : "used its whole limit of tokens on reasoning";
  return `Nothing was run: your message ${what}. Be brief. ${HOW}`;
}
