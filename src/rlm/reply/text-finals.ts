// The answers that a node's model gives with FINAL(...) in plain text, in place of a block of code.
//
// A value is the answer. An expression over variables is run like a block. Prose is taken as it is. For a word that is no variable the
// model is asked what it means; the same word again is taken as a text.

import type { NodeSession } from "../session/node-session.ts";

export type TextFinal =
  | { readonly kind: "submitted" }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "code"; readonly code: string }
  /** `hint`: what the model is asked. */
  | { readonly kind: "nothing"; readonly reason: "final"; readonly hint: string };

/** Quotes around a text that Python does not take for a string, because of an apostrophe or a line end in it. */
const QUOTED = /^(?:"([^"]*)"|'((?:[^']|(?<=\p{L})'(?=\p{L}))*)')$/su;

export class TextFinals {
  /** What the model was asked about last. */
  #asked: string | undefined;

  /** `source`: what is between the brackets. */
  async read(session: Pick<NodeSession, "readFinal">, source: string): Promise<TextFinal> {
    const reading = await session.readFinal(source);
    switch (reading.kind) {
      case "submitted":
        return reading;
      case "prose":
        return { kind: "answer", text: withoutQuotes(source) };
      case "expression":
        return { kind: "code", code: toCode(source, reading.isSeveral) };
      case "unreadable": {
        if (this.#asked === source) return { kind: "answer", text: source };
        this.#asked = source;
        return { kind: "nothing", reason: "final", hint: reading.why };
      }
    }
  }
}

function withoutQuotes(source: string): string {
  const [, double, single] = QUOTED.exec(source) ?? [];
  return double ?? single ?? source;
}

/** A comment in the source must not hide a bracket. */
function toCode(source: string, isSeveral: boolean): string {
  const end = source.includes("#") ? "\n" : "";
  return isSeveral ? `FINAL((${source}${end}))` : `FINAL(${source}${end})`;
}
