// Code that waits for a line, and the clients that may answer it: the first answer counts.

import type { ExecutionId } from "../../protocol/ids.ts";
import type { InputHandler } from "../../session/execution/input.ts";

export class Inputs {
  readonly #waiting = new Map<string, (line: string | null) => void>();

  /** For one execution, which waits for one line at a time. */
  handlerOf(id: () => ExecutionId): InputHandler {
    return ({ signal }) =>
      new Promise((resolve) => {
        const answer = (line: string | null): void => {
          this.#waiting.delete(id());
          resolve(line);
        };
        this.#waiting.set(id(), answer);
        signal.addEventListener("abort", () => answer(null), { once: true });
      });
  }

  /** Null: the end of input. False: it waits for nothing. */
  answer(id: string, line: string | null): boolean {
    const waiting = this.#waiting.get(id);
    waiting?.(line);
    return waiting !== undefined;
  }
}
