// The messages of a node: the system prompt and the question, which never change, then those of each step. The oldest steps may be
// replaced by a summary.

import type { ChatMessage } from "../../backends/backend.ts";

export interface StepRecord {
  readonly step: number;
  /** What the model wrote. */
  readonly reply: string;
  /** Undefined: no block of code was run. */
  readonly code?: string | undefined;
  /** What the model was shown. */
  readonly observation?: string;
}

export class Conversation {
  readonly #steps: (StepRecord & { readonly message?: string })[] = [];
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
    this.#steps.push({ step, reply });
  }

  /** What followed the last reply. `message`: what is sent. */
  endStep(shown: Pick<StepRecord, "code" | "observation"> & { readonly message: string }): void {
    const last = this.#steps.pop();
    if (last !== undefined) this.#steps.push({ ...last, ...shown });
  }

  get steps(): readonly StepRecord[] {
    return this.#steps;
  }

  /** How many of the steps are in the summary. */
  get replaced(): number {
    return this.#replaced;
  }

  get messages(): readonly ChatMessage[] {
    const kept = this.#steps
      .slice(this.#replaced)
      .flatMap(({ reply, message }): ChatMessage[] => [
        { role: "assistant", content: reply },
        ...(message === undefined ? [] : [{ role: "user", content: message } as const]),
      ]);
    return [...this.#head, ...this.#summaryMessages(), ...kept];
  }

  /** Replaces the first so many steps by a summary, in place of an earlier one. */
  replace(count: number, summary: string): void {
    this.#replaced = count;
    this.#summary = summary;
  }

  /** Users and assistants alternate: the templates of some models insist on that. */
  #summaryMessages(): readonly ChatMessage[] {
    if (this.#replaced === 0) return [];
    const last = this.#steps[this.#replaced - 1]?.step ?? 0;
    return [
      { role: "assistant", content: `(steps 1 to ${last})` },
      { role: "user", content: this.#summary },
    ];
  }
}
