// Commands other than executions that wait for their status, by id.

import type { StatusEvent } from "../protocol/worker-events.ts";

export class Asks {
  readonly #waiting = new Map<string, (status: StatusEvent | undefined) => void>();
  #made = 0;

  /** Sends one command under a new id. Resolves with its status; with undefined when the worker is lost first. */
  ask(send: (id: string) => void): Promise<StatusEvent | undefined> {
    this.#made += 1;
    const id = `ask/${this.#made}`;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
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
}
