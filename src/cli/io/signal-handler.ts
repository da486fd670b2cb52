// Signals of a command that runs code.
//
// The first Ctrl-C interrupts the code, as in `python`, and the code's reaction decides the exit code. The second Ctrl-C,
// SIGTERM and SIGHUP close the runtime at once and end the command with the exit code of the signal.

import { EXIT } from "../exit-code.ts";

/** A runtime, or an execution on a server. */
interface Closable {
  close(): Promise<unknown>;
}

export class SignalHandler implements Disposable {
  /** What Ctrl-C interrupts: a session or a run. Undefined: Ctrl-C ends the command. */
  interruptible: { interrupt(): unknown } | undefined;
  onStop: () => void = () => {};
  readonly #runtime: Closable;
  readonly #stopped: Promise<number>;
  readonly #listeners = new AbortController();
  #resolve!: (code: number) => void;
  #interrupts = 0;

  constructor(runtime: Closable) {
    this.#runtime = runtime;
    this.#stopped = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#on("SIGINT", () => this.#interrupt());
    this.#on("SIGTERM", () => this.stop(EXIT.ended));
    this.#on("SIGHUP", () => this.stop(EXIT.hungUp));
  }

  /** Closes the runtime; `race` resolves with this code. */
  stop(code: number): void {
    this.onStop();
    this.#resolve(code);
    void this.#runtime.close();
  }

  /** The exit code of the work, or of what stopped it. */
  async race(work: Promise<number>): Promise<number> {
    work.catch(() => {}); // after a stop its outcome does not matter
    return Promise.race([this.#stopped, work]);
  }

  [Symbol.dispose](): void {
    this.#listeners.abort();
  }

  #interrupt(): void {
    this.#interrupts += 1;
    if (this.#interrupts > 1 || this.interruptible === undefined) this.stop(EXIT.cancelled);
    else this.interruptible.interrupt();
  }

  #on(signal: NodeJS.Signals, listener: () => void): void {
    process.on(signal, listener);
    this.#listeners.signal.addEventListener("abort", () => void process.off(signal, listener));
  }
}
