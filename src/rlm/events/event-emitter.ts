// Numbers the events of a run and gives them to whoever listens.

import type { RunId } from "../../protocol/ids.ts";
import type { RunEvent } from "../../protocol/runs.ts";

type Untold<Event> = Event extends RunEvent ? Omit<Event, "runId" | "seq" | "time"> : never;

export class Teller {
  readonly #runId: RunId;
  readonly #now: () => number;
  readonly #hear: (event: RunEvent) => void;
  #seq = 0;

  constructor(runId: RunId, now: () => number, hear: (event: RunEvent) => void) {
    this.#runId = runId;
    this.#now = now;
    this.#hear = hear;
  }

  tell(event: Untold<RunEvent>): void {
    this.#seq += 1;
    this.#hear({ runId: this.#runId, seq: this.#seq, time: this.#now(), ...event });
  }
}
