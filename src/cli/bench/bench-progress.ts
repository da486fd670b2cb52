// What is being measured, on one line of a terminal that is redrawn and finally erased. Nothing elsewhere.

import { isLiveTerminal } from "../io/is-live-terminal.ts";

export class BenchProgress implements Disposable {
  #isShown = isLiveTerminal();
  #isDrawn = false;

  show(what: string): void {
    if (!this.#isShown) return;
    process.stderr.write(`\r\u001B[K${what} …`);
    this.#isDrawn = true;
  }

  /** Idempotent. */
  clear(): void {
    if (this.#isDrawn) process.stderr.write("\r\u001B[K");
    this.#isDrawn = false;
  }

  /** Shows nothing more. */
  [Symbol.dispose](): void {
    this.clear();
    this.#isShown = false;
  }
}
