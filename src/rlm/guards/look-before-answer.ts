// Sends an answer back, once, where a model has not looked at its context: it would be a guess from the question alone.

import type { ContextItem } from "../context/context-item.ts";

/** Whether one of the blocks uses one of the variables. */
type UsesContext = (sources: readonly string[], names: readonly string[]) => Promise<boolean>;

/** So much is in the description of the context, which the model has seen. */
const SEEN_BYTES = 500;

export class LookBeforeAnswer {
  readonly variables: readonly string[];
  readonly #uses: UsesContext;
  readonly #blocks: string[] = [];
  #isDone: boolean;

  constructor(context: readonly ContextItem[], { isOn, uses }: { readonly isOn: boolean; readonly uses: UsesContext }) {
    this.variables = context.map(({ name }) => name);
    this.#uses = uses;
    this.#isDone = !isOn || context.reduce((sum, { bytes }) => sum + bytes, 0) <= SEEN_BYTES;
  }

  /** A block that has run. `calls`: how often it called models, children and tools, which can look, too. */
  add(code: string, calls: number): void {
    if (calls > 0) this.#isDone = true;
    if (!this.#isDone) this.#blocks.push(code);
  }

  /** Call where an answer would be accepted. */
  async sendsBack(): Promise<boolean> {
    if (this.#isDone) return false;
    this.#isDone = true;
    return !(await this.#uses(this.#blocks, this.variables));
  }
}
