// What signals do to a command that runs code.
//
// The first Ctrl-C interrupts the code, as it would in `python`; what the code makes of it decides the exit code. The
// second one ends everything at once, and so do SIGTERM and SIGHUP: the runtime is closed and the command ends with
// the exit code of that signal, whatever the code was doing.

import { EXIT } from "../exit-code.ts";

/** A runtime, or what stands for it on another server. */
interface Closable {
  close(): Promise<unknown>;
}

export class SignalHandler implements Disposable {
  /** What Ctrl-C interrupts: a session or a run. While there is none, Ctrl-C ends the command. */
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

  /** Closes the runtime; `race` answers with this code. */
  stop(code: number): void {
    this.onStop();
    this.#resolve(code);
    void this.#runtime.close();
  }

  /** The exit code of the work, or of what stopped it. */
  async race(work: Promise<number>): Promise<number> {
    work.catch(() => {}); // once stopped, how the work ends is no news
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
