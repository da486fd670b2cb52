// Signals of a command that runs code.
//
// The first Ctrl-C interrupts the code, as in `python`, and the code's reaction decides the exit code. The second Ctrl-C,
// SIGTERM and SIGHUP close the runtime at once and end the command with the exit code of the signal. Output that cannot be
// written ends it likewise.

import { deferred } from "../../util/async/deferred.ts";
import { EXIT, fromWriteError } from "../exit-code.ts";
import { printError } from "./print-error.ts";
import type { StandardOutput } from "./standard-output.ts";

/** A runtime, or an execution on a server. */
interface Closable {
  close(): Promise<unknown>;
}

export class SignalHandler implements Disposable {
  /** What Ctrl-C interrupts: a session or a run. Undefined: Ctrl-C ends the command. */
  interruptible: { interrupt(): unknown } | undefined;
  onStop: () => void = () => {};
  readonly #runtime: Closable;
  readonly #output: StandardOutput;
  readonly #stopped = deferred<number>();
  readonly #listening: Disposable;
  #interrupts = 0;

  constructor(runtime: Closable, output: StandardOutput) {
    this.#runtime = runtime;
    this.#output = output;
    this.#listening = listenForSignals({
      SIGINT: () => this.#interrupt(),
      SIGTERM: () => this.#stop(EXIT.ended),
      SIGHUP: () => this.#stop(EXIT.hungUp),
    });
    output.onBroken = (error) => {
      if (error.code !== "EPIPE") printError(`cannot write the output: ${error.message}`);
      this.#stop(fromWriteError(error));
    };
  }

  /** The exit code of the work, or of what stopped it. */
  async race(work: Promise<number>): Promise<number> {
    work.catch(() => {}); // after a stop its outcome does not matter
    return Promise.race([this.#stopped.promise, work]);
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #interrupt(): void {
    this.#interrupts += 1;
    if (this.#interrupts > 1 || this.interruptible === undefined) this.#stop(EXIT.cancelled);
    else this.interruptible.interrupt();
  }

  /** Unread output must not keep the command alive. */
  #stop(code: number): void {
    this.onStop();
    this.#output.abandon();
    this.#stopped.resolve(code);
    void this.#runtime.close();
  }
}

export function listenForSignals(listeners: Readonly<Partial<Record<NodeJS.Signals, () => void>>>): Disposable {
  const entries = Object.entries(listeners);
  for (const [signal, listener] of entries) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const [signal, listener] of entries) process.off(signal, listener);
    },
  };
}
