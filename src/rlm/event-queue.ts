// The events of a run for whoever iterates it, from the first one on, at their own pace.
//
// Deltas are for those who watch: past a bound of unread events they are left out, since the events that end what they belong
// to have the whole.

import type { RunEvent } from "../protocol/runs.ts";

const MAX_DELTAS = 20_000;
const MAX_DELTA_CHARACTERS = 16 * 1024 * 1024;

export class EventQueue {
  readonly #events: RunEvent[] = [];
  #deltas = 0;
  #deltaCharacters = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];

  push(event: RunEvent): void {
    if (event.type === "model-call-delta" || event.type === "output-delta") {
      if (this.#deltas >= MAX_DELTAS || this.#deltaCharacters + event.text.length > MAX_DELTA_CHARACTERS) return;
      this.#deltas += 1;
      this.#deltaCharacters += event.text.length;
    }
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<RunEvent, void, undefined> {
    for (let index = 0; ;) {
      const event = this.#events[index];
      if (event !== undefined) {
        yield event;
        index += 1;
      } else if (this.#isOver) return;
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
