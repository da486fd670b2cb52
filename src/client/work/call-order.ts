// The order of the calls on one session: each request is sent when the one before was accepted.
//
// A start is accepted at once, whatever it starts. An operation, such as setting a variable, is accepted when it is done, so it may wait for
// running code. An interrupt therefore follows the starts before it, and never waits for an operation.

export class CallOrder {
  #last: Promise<unknown> = Promise.resolve();
  #accepted: Promise<unknown> = Promise.resolve();
  #pending = 0;
  #operations = 0;
  readonly #onIdle: () => void;

  constructor(onIdle: () => void = () => {}) {
    this.#onIdle = onIdle;
  }

  /** Settles as `send` does. A failure does not block those that follow. */
  start<Value>(send: () => Promise<Value>): Promise<Value> {
    const sent = this.#enqueue(send);
    if (this.#operations === 0) this.#accepted = sent.catch(() => {});
    return sent;
  }

  /** As `start`, for what is answered when it is done. */
  async operate<Value>(send: () => Promise<Value>): Promise<Value> {
    this.#operations += 1;
    try {
      return await this.#enqueue(send);
    } finally {
      this.#operations -= 1;
    }
  }

  /** Sends after the starts before it that do not wait for an operation. */
  async urge<Value>(send: () => Promise<Value>): Promise<Value> {
    this.#pending += 1;
    try {
      await this.#accepted;
      return await send();
    } finally {
      this.#end();
    }
  }

  #enqueue<Value>(send: () => Promise<Value>): Promise<Value> {
    this.#pending += 1;
    const sent = this.#last.then(send);
    const end = (): void => this.#end();
    this.#last = sent.then(end, end);
    return sent;
  }

  #end(): void {
    this.#pending -= 1;
    if (this.#pending === 0) this.#onIdle();
  }
}

/** The orders of sessions by their ids, as long as something is under way. */
export class CallOrders {
  readonly #byId = new Map<string, CallOrder>();

  of(id: string): CallOrder {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const order = new CallOrder(() => this.#byId.delete(id));
    this.#byId.set(id, order);
    return order;
  }
}
