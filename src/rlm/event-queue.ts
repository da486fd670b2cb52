// The events of a run for whoever iterates it, from the first one on, at their own pace.
//
// Deltas are for those who watch: past a bound of unread events they are left out, since the events that end what they belong
// to have the whole.

import type { RunEvent } from "../protocol/runs.ts";
import { onAbort } from "../util/on-abort.ts";

const MAX_DELTAS = 20_000;
const MAX_DELTA_CHARACTERS = 16 * 1024 * 1024;

export class EventQueue {
  readonly #events: RunEvent[] = [];
  #deltas = 0;
  #deltaCharacters = 0;
  #characters = 0;
  #isOver = false;
  readonly #waiting = new Set<() => void>();

  /** About how many it keeps. */
  get characters(): number {
    return this.#characters;
  }

  push(event: RunEvent): void {
    if (event.type === "model-call-delta" || event.type === "output-delta") {
      if (this.#deltas >= MAX_DELTAS || this.#deltaCharacters + event.text.length > MAX_DELTA_CHARACTERS) return;
      this.#deltas += 1;
      this.#deltaCharacters += event.text.length;
    }
    this.#events.push(event);
    this.#characters += weigh(event);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** What comes after the event with this number; 0: all. An aborted signal ends the reading. */
  async *read(after = 0, signal?: AbortSignal): AsyncGenerator<RunEvent, void, undefined> {
    const isWanted = (): boolean => signal?.aborted !== true;
    for (let index = 0; isWanted();) {
      const event = this.#events[index];
      if (event !== undefined) {
        index += 1;
        if (event.seq > after) yield event;
      } else if (this.#isOver) return;
      else await this.#change(signal);
    }
  }

  /** Resolves when there is something new, or the signal is aborted. */
  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(wake);
        resolve();
      });
      const wake = (): void => {
        stopListening();
        resolve();
      };
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** Of messages only the last two are new with a call. */
function weigh(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 4) return 8;
  let sum = 8;
  for (const name in value) {
    const item = (value as Record<string, unknown>)[name];
    const isLong = name === "messages" && Array.isArray(item) && item.length > 2;
    sum += weigh(isLong ? item.slice(-2) : item, depth + 1);
  }
  return sum;
}
