// Runs few things at a time, the latest request first: what the reader scrolled to last is what they look at.

export class SlotQueue {
  readonly #slots: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  async run<Value>(task: () => Promise<Value>): Promise<Value> {
    if (this.#running >= this.#slots) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      return await task();
    } finally {
      this.#running -= 1;
      this.#waiting.pop()?.();
    }
  }
}
