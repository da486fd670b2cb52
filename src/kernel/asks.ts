// Commands other than executions that wait for their status, by id.

import type { StatusEvent } from "../protocol/worker-events.ts";

/** Questions that were given up and may still be answered. Past this a worker that does not listen is asked no more. */
const MAX_LATE = 64;

export class Asks {
  readonly #waiting = new Map<string, (status: StatusEvent | undefined) => void>();
  #made = 0;
  #late = 0;

  /** Sends one command under a new id. Resolves with its status; with undefined when the worker is lost first. */
  ask(send: (id: string) => void): Promise<StatusEvent | undefined> {
    const id = this.#createId();
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      send(id);
    });
  }

  /** The same, with "unheard" when the limit comes first; an answer that comes later is expected, and dropped. */
  askWithin(limitMs: number, send: (id: string) => void): Promise<StatusEvent | "unheard" | undefined> {
    if (this.#late >= MAX_LATE) return Promise.resolve("unheard");
    const id = this.#createId();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#late += 1;
        this.#waiting.set(id, () => (this.#late -= 1));
        resolve("unheard");
      }, limitMs);
      this.#waiting.set(id, (status) => {
        clearTimeout(timer);
        resolve(status);
      });
      send(id);
    });
  }

  /** Whether somebody waited for it. */
  hear(status: StatusEvent): boolean {
    const resolve = this.#waiting.get(status.id);
    if (resolve === undefined) return false;
    this.#waiting.delete(status.id);
    resolve(status);
    return true;
  }

  /** The worker is gone: nobody will be answered. */
  end(): void {
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }

  #createId(): string {
    this.#made += 1;
    return `ask/${this.#made}`;
  }
}
