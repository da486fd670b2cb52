// What one reply of a node's model asks for, read while it streams in.
//
// Code comes first: an answer beside code that has not run yet would be a guess. A reply that asks for nothing gets a hint.

import type { CachedAnswer } from "../../protocol/usage.ts";
import { HOW } from "./block-tags.ts";
import { CodeScanner, type IsComplete, type NoCodeReason } from "./code-block.ts";
import { findFinal } from "./final-call.ts";
import type { TextFinal } from "./text-finals.ts";
import { withoutPrompts } from "./without-prompts.ts";
import { findToolCall, toToolHint } from "./tool-call/tool-call.ts";

export type Reading = {
  /** What stays of the reply in the conversation: nothing that follows its code. */
  readonly kept: string;
} & (
  | { readonly kind: "code"; readonly code: string }
  /** The answer is the value of this variable. */
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "answer"; readonly text: string }
  /** The answer was submitted when it was read. */
  | { readonly kind: "submitted" }
  /** `hint`: what the model is shown. */
  | { readonly kind: "nothing"; readonly reason: NothingReason; readonly hint: string }
);

export type NothingReason = NoCodeReason | "final" | "refused" | "tool-call";

export type ReplyTexts = Pick<CachedAnswer, "text" | "reasoning" | "finishReason">;

export interface ReplyReaderOptions {
  readonly isComplete: IsComplete;
  /** What is between the brackets of FINAL(...) in plain text. */
  readonly readFinal: (source: string) => Promise<TextFinal>;
}

export class ReplyReader {
  readonly #options: ReplyReaderOptions;
  #scanner: CodeScanner;

  constructor(options: ReplyReaderOptions) {
    this.#options = options;
    this.#scanner = new CodeScanner(options.isComplete);
  }

  /** Takes the next piece of the text. True: the first block of code is complete, and what follows is not wanted. */
  push(text: string): boolean {
    return this.#scanner.push(text) !== undefined;
  }

  /** The text so far is void. */
  restart(): void {
    this.#scanner = new CodeScanner(this.#options.isComplete);
  }

  /** Call once, at the end, with all of it. */
  async end(reply: ReplyTexts): Promise<Reading> {
    const { text, finishReason } = reply;
    const scanned = await this.#scanner.end(finishReason);
    if (scanned.kind === "code") {
      const { code, end } = scanned.block;
      return { kind: "code", code: withoutPrompts(code), kept: text.slice(0, end) };
    }
    const tool = text.trim() === "" ? undefined : findToolCall(text);
    if (tool?.code !== undefined)
      return { kind: "code", code: withoutPrompts(tool.code), kept: text.slice(0, tool.end) };
    const reading = await this.#readText(reply, scanned);
    if (tool === undefined || reading.kind !== "nothing") return { ...reading, kept: text };
    return { kind: "nothing", reason: "tool-call", hint: toToolHint(tool.name), kept: text.slice(0, tool.end) };
  }

  async #readText(
    reply: ReplyTexts,
    scanned: { readonly reason: NoCodeReason; readonly hint: string },
  ): Promise<TextReading> {
    if (reply.text.trim() === "") return { kind: "nothing", ...toEmpty(reply) };
    const final = findFinal(reply.text);
    switch (final.kind) {
      case "variable":
        return final;
      case "value":
        return this.#options.readFinal(final.text);
      case "fields":
        if (await this.#options.isComplete(final.code)) return { kind: "code", code: final.code };
        return { kind: "nothing", reason: "final", hint: `SUBMIT(...) was not read: it is not valid Python. ${HOW}` };
      case "none":
        if (final.hint !== null) return { kind: "nothing", reason: "final", hint: final.hint };
        if (reply.finishReason === "refusal") return { kind: "nothing", reason: "refused", hint: REFUSED };
        return { kind: "nothing", reason: scanned.reason, hint: scanned.hint };
    }
  }
}

type TextReading = Reading extends infer One ? (One extends Reading ? Omit<One, "kept"> : never) : never;

const REFUSED = `Nothing was run: you refused to go on, or a filter ended your message. ${HOW}. If it cannot be done, say so with FINAL("...") in a block`;

function toEmpty({ reasoning, finishReason }: ReplyTexts): { readonly reason: NoCodeReason; readonly hint: string } {
  if (finishReason !== "length") {
    return {
      reason: "empty",
      hint: `Nothing was run: your message is empty, but for what you may have reasoned. ${HOW}`,
    };
  }
  const what =
    reasoning === ""
      ? "reached its limit of tokens before it said anything"
      : "used its whole limit of tokens on reasoning";
  return { reason: "cut-off", hint: `Nothing was run: your message ${what}. Be brief. ${HOW}` };
}
