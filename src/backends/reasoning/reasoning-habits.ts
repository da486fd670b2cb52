// Remembers which models begin their replies inside their reasoning, without an opening marker.
//
// Their text is taken for reasoning until the closing marker. A reply that ends without one was an answer after all.

import type { BackendRequest } from "../backend.ts";
import { ReasoningSplitter, type ReasoningHabit } from "./reasoning-splitter.ts";

/** Names of models come from code inside sessions, so habits must not pile up. */
const MAX_MODELS = 1000;

/** Prompts ask for `<reasoning>` and the like as parts of an answer. All other markers are what models write by themselves. */
const ASKED_FOR = /^<(?!think>)\w+>$/i;

export class ReasoningHabits {
  readonly #byModel = new Map<string, ReasoningHabit>();

  /** For one reply to this request. `model` also says whose model it is. */
  openSplitter(model: string, { messages }: BackendRequest): ReasoningSplitter {
    return new ReasoningSplitter({
      habit: this.#byModel.get(model),
      isAskedFor: (marker) => ASKED_FOR.test(marker) && messages.at(-1)?.content.includes(marker) === true,
      onHabit: (habit) => {
        if (this.#byModel.size >= MAX_MODELS && !this.#byModel.has(model)) this.#byModel.clear();
        this.#byModel.set(model, habit);
      },
    });
  }
}
