// Numbers and timestamps the events of a run.

import type { RunId } from "../../protocol/ids.ts";
import type { RunEvent } from "../../protocol/run-events.ts";

type NewEvent<Event> = Event extends RunEvent ? Omit<Event, "runId" | "seq" | "time"> : never;

export class EventEmitter {
  readonly #runId: RunId;
  readonly #now: () => number;
  readonly #listener: (event: RunEvent) => void;
  #seq = 0;

  constructor(runId: RunId, now: () => number, listener: (event: RunEvent) => void) {
    this.#runId = runId;
    this.#now = now;
    this.#listener = listener;
  }

  emit(event: NewEvent<RunEvent>): void {
    this.#seq += 1;
    this.#listener({ runId: this.#runId, seq: this.#seq, time: this.#now(), ...event });
  }
}
