// A bounded FIFO queue whose entries run one at a time.

import type { ActiveWork } from "../../util/async/active-work.ts";
import type { KeepAlive } from "../keep-alive.ts";

export class Queue<Entry> {
  readonly #maxWaiting: number;
  readonly #keepAlive: KeepAlive;
  readonly #activeWork: ActiveWork;
  readonly #waiting: Entry[] = [];
  #running: Entry | undefined;
  #isClosed = false;

  /** The session is in use while an entry runs, and the process stays alive. */
  constructor(maxWaiting: number, keepAlive: KeepAlive, activeWork: ActiveWork) {
    this.#maxWaiting = maxWaiting;
    this.#keepAlive = keepAlive;
    this.#activeWork = activeWork;
  }

  get running(): Entry | undefined {
    return this.#running;
  }

  /** How many entries wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
  }

  /** Whether any entry, running or waiting, passes the test. */
  some(test: (entry: Entry) => boolean): boolean {
    return (this.#running !== undefined && test(this.#running)) || this.#waiting.some(test);
  }

  add(entry: Entry): void {
    this.#waiting.push(entry);
  }

  /** Removes a waiting entry. False: it does not wait. */
  remove(entry: Entry): boolean {
    const index = this.#waiting.indexOf(entry);
    if (index === -1) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  /** The entry to start now, which is the running one until `release`. Undefined: there is none, or another one runs. */
  next(): Entry | undefined {
    if (this.#running !== undefined || this.#isClosed) return undefined;
    this.#running = this.#waiting.shift();
    if (this.#running === undefined) return undefined;
    this.#keepAlive.enter();
    this.#activeWork.enter();
    return this.#running;
  }

  /** The running entry has ended. */
  release(): void {
    this.#running = undefined;
    this.#keepAlive.leave();
    this.#activeWork.leave();
  }

  /** No entry starts any more. Returns those that waited. */
  close(): Entry[] {
    this.#isClosed = true;
    return this.#waiting.splice(0);
  }
}
