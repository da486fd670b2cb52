// The messages of a node: the system prompt and the question, which never change, then a turn for each step. The oldest turns may be
// replaced by a summary.

import type { ChatMessage } from "../../backends/backend.ts";

export interface Turn {
  readonly step: number;
  /** What the model wrote. */
  readonly reply: string;
  /** Undefined: no block of code was run. */
  readonly code?: string | undefined;
  /** What the model was shown. */
  readonly observation?: string;
}

export class Conversation {
  readonly #turns: (Turn & { readonly message?: string })[] = [];
  #head: readonly ChatMessage[] = [];
  #replaced = 0;
  #summary = "";

  begin(system: string, first: string): void {
    this.#head = [
      { role: "system", content: system },
      { role: "user", content: first },
    ];
  }

  addReply(step: number, reply: string): void {
    this.#turns.push({ step, reply });
  }

  /** What followed the last reply. `message`: what is sent. */
  endTurn(shown: Pick<Turn, "code" | "observation"> & { readonly message: string }): void {
    const last = this.#turns.pop();
    if (last !== undefined) this.#turns.push({ ...last, ...shown });
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** How many of the turns are in the summary. */
  get replaced(): number {
    return this.#replaced;
  }

  get messages(): readonly ChatMessage[] {
    const kept = this.#turns
      .slice(this.#replaced)
      .flatMap(({ reply, message }): ChatMessage[] => [
        { role: "assistant", content: reply },
        ...(message === undefined ? [] : [{ role: "user", content: message } as const]),
      ]);
    return [...this.#head, ...this.#summaryMessages(), ...kept];
  }

  /** Replaces the first so many turns by a summary, in place of an earlier one. */
  replace(count: number, summary: string): void {
    this.#replaced = count;
    this.#summary = summary;
  }

  /** Users and assistants alternate: the templates of some models insist on that. */
  #summaryMessages(): readonly ChatMessage[] {
    if (this.#replaced === 0) return [];
    const last = this.#turns[this.#replaced - 1]?.step ?? 0;
    return [
      { role: "assistant", content: `(steps 1 to ${last})` },
      { role: "user", content: this.#summary },
    ];
  }
}
