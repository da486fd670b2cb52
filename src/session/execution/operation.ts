// Something other than code that waits for its turn in a session: a reset, a save, a rewind.

import { onAbort } from "../../util/async/on-abort.ts";

export class Operation<T = unknown> {
  /** What became of it. */
  readonly done: Promise<T>;
  readonly #work: () => Promise<T>;
  #isDismissed = false;
  #stopListening: () => void = () => {};
  #resolve: (value: T) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  /** When the signal is aborted before its turn has come, it never runs. */
  constructor(work: () => Promise<T>, signal?: AbortSignal) {
    this.#work = work;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (signal === undefined) return;
    this.#stopListening = onAbort(signal, () => this.dismiss(signal.reason));
  }

  /** Never rejects: whoever waits is told. */
  async run(): Promise<void> {
    this.#stopListening();
    if (this.#isDismissed) return;
    try {
      this.#resolve(await this.#work());
    } catch (error) {
      this.#reject(error);
    }
  }

  /** It will never run. */
  dismiss(error: unknown): void {
    this.#isDismissed = true;
    this.#reject(error);
  }
}
