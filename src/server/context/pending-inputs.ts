// Executions that wait for a line of input, and the clients that may answer: the first answer counts.

import type { ExecutionId } from "../../protocol/ids.ts";
import type { InputHandler } from "../../session/execution/input.ts";

interface Answer {
  /** A line. Null: the end of input. */
  readonly text: string | null;
  /** Why input ends. */
  readonly why?: string | undefined;
}

export class PendingInputs {
  readonly #byExecution = new Map<string, { readonly call: number; readonly answer: (answer: Answer) => void }>();

  /** An execution waits for one line at a time. */
  handlerOf(id: () => ExecutionId): InputHandler {
    return ({ signal }, call) =>
      new Promise((resolve, reject) => {
        const answer = ({ text, why }: Answer): void => {
          if (this.#byExecution.get(id())?.call === call) this.#byExecution.delete(id());
          if (text === null && why !== undefined) reject(new Error(why));
          else resolve(text);
        };
        this.#byExecution.set(id(), { call, answer });
        signal.addEventListener("abort", () => answer({ text: null }), { once: true });
      });
  }

  /** Undefined call: whichever waits. False: the execution does not wait for this. */
  answer(id: string, answer: Answer, call?: number): boolean {
    const waiting = this.#byExecution.get(id);
    if (waiting === undefined || (call !== undefined && call !== waiting.call)) return false;
    waiting.answer(answer);
    return true;
  }
}
