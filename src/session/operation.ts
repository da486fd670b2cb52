// Something other than code that waits for its turn in a session: a reset, a save, a rewind.

export class Operation<T = unknown> {
  /** What became of it. */
  readonly done: Promise<T>;
  readonly #work: () => Promise<T>;
  #resolve: (value: T) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(work: () => Promise<T>) {
    this.#work = work;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Never rejects: whoever waits is told. */
  async run(): Promise<void> {
    try {
      this.#resolve(await this.#work());
    } catch (error) {
      this.#reject(error);
    }
  }

  /** It will never run. */
  dismiss(error: Error): void {
    this.#reject(error);
  }
}
