// Executions that wait for a line of input, and the clients that may answer: the first answer counts.

import type { ExecutionId } from "../../protocol/ids.ts";
import type { InputHandler } from "../../session/execution/input.ts";

export class PendingInputs {
  readonly #byExecution = new Map<string, (line: string | null) => void>();

  /** An execution waits for one line at a time. */
  handlerOf(id: () => ExecutionId): InputHandler {
    return ({ signal }) =>
      new Promise((resolve) => {
        const answer = (line: string | null): void => {
          this.#byExecution.delete(id());
          resolve(line);
        };
        this.#byExecution.set(id(), answer);
        signal.addEventListener("abort", () => answer(null), { once: true });
      });
  }

  /** Null: end of input. False: the execution waits for nothing. */
  answer(id: string, line: string | null): boolean {
    const answer = this.#byExecution.get(id);
    answer?.(line);
    return answer !== undefined;
  }
}
