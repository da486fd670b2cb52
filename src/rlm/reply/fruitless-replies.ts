// Ends a node whose model gets nowhere: it only talks, refuses, or makes the same mistake again and again.
//
// What a model that only talks said last is its answer. Otherwise there may be an answer in what it has seen before.

import type { Strategy } from "../../protocol/strategy/strategy.ts";
import { shorten } from "../../util/text/shorten.ts";
import type { NothingReason, Reading } from "./reply-reader.ts";

export interface FruitlessEnd {
  readonly why: string;
  /** Undefined: it gave none. */
  readonly answer: string | undefined;
}

/** In the words of a sentence that begins with "the model". */
const WHAT: Readonly<Record<NothingReason, string>> = {
  "no-code": "wrote no code",
  data: "wrote no code",
  final: "wrote no code",
  "not-runnable": "wrote no code that can be run",
  empty: "wrote nothing",
  unclosed: "wrote no complete code",
  "cut-off": "reached its limit of tokens before it had written any code",
  refused: "refused to answer",
  "tool-call": "called tools that do not exist",
};

const MAX_SHOWN = 200;

export class FruitlessReplies {
  readonly #guards: Strategy["guards"];
  #inRow = 0;
  #same = 0;
  #last: string | undefined;

  constructor(guards: Strategy["guards"]) {
    this.#guards = guards;
  }

  /** Undefined: the node goes on. */
  add(reading: Reading): FruitlessEnd | undefined {
    if (reading.kind !== "nothing") {
      this.#inRow = this.#same = 0;
      return undefined;
    }
    const what = WHAT[reading.reason];
    this.#inRow += 1;
    this.#same = what === this.#last ? this.#same + 1 : 1;
    this.#last = what;
    const { refusals, fruitlessReplies } = this.#guards;
    const limit = reading.reason === "refused" ? refusals : fruitlessReplies;
    if (limit === 0) return undefined;
    const text = reading.kept.trim();
    if (this.#same >= limit) return toEnd(what, this.#same, text);
    // Several kinds of mistakes in turns.
    return this.#inRow < 2 * limit ? undefined : toEnd("wrote nothing that can be followed", this.#inRow, text);
  }
}

function toEnd(what: string, times: number, text: string): FruitlessEnd {
  const why = `the model ${what} in ${times} replies in a row`;
  if (what === WHAT["no-code"]) return { why: `${why}: it answered in plain text`, answer: text };
  return { why: what === WHAT.refused ? `${why}: ${shorten(text, MAX_SHOWN)}` : why, answer: undefined };
}
