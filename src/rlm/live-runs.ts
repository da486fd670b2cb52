// The runs of one runtime, by id: those in progress and the most recent ones that ended. All recorded runs are in the store.

import type { ActiveWork } from "../util/async/active-work.ts";
import type { Run } from "./run.ts";

const MAX_ENDED = 100;
/** In the events of all ended runs together. The latest run is kept whatever its size. */
const MAX_ENDED_CHARACTERS = 128 * 1024 * 1024;

export class LiveRuns {
  readonly #live = new Map<string, Run>();
  readonly #ended = new Map<string, Run>();
  /** Of runs in progress. */
  readonly #recordings = new Map<string, Promise<void>>();
  readonly #activeWork: ActiveWork;

  constructor(activeWork: ActiveWork) {
    this.#activeWork = activeWork;
  }

  /** Undefined: not known here. */
  get(id: string): Run | undefined {
    return this.#live.get(id) ?? this.#ended.get(id);
  }

  /** How many are in progress. */
  get running(): number {
    return this.#live.size;
  }

  /** Resolves when no run is in progress. */
  async idle(): Promise<void> {
    while (this.#live.size > 0) await Promise.allSettled([...this.#live.values()].map(({ result }) => result));
  }

  list(): readonly Run[] {
    return [...this.#ended.values(), ...this.#live.values()];
  }

  /** Resolves when the run has ended and its recording is complete: nothing reads its context any more. */
  async settled(id: string): Promise<void> {
    await this.get(id)?.result.catch(() => {});
    await this.#recordings.get(id);
  }

  /** Called by the runtime. The recording ends after the run. */
  add(run: Run, recording: Promise<void> = Promise.resolve()): void {
    this.#live.set(run.id, run);
    const recorded = recording.catch(() => {}).finally(() => this.#recordings.delete(run.id));
    this.#recordings.set(run.id, recorded);
    const end = (): void => {
      this.#live.delete(run.id);
      this.#ended.set(run.id, run);
      this.#forget();
    };
    run.result.then(end, end);
    void this.#activeWork.during(() => Promise.allSettled([run.result, recorded]));
  }

  /** Resolves when all have ended and are recorded. */
  async cancelAll(): Promise<void> {
    const live = [...this.#live.values()];
    for (const run of live) run.cancel();
    await Promise.allSettled(live.map(({ result }) => result));
    await Promise.all(this.#recordings.values());
  }

  #forget(): void {
    let characters = 0;
    for (const { weight } of this.#ended.values()) characters += weight;
    for (const [id, { weight }] of this.#ended) {
      const isTooMuch = characters > MAX_ENDED_CHARACTERS && this.#ended.size > 1;
      if (!isTooMuch && this.#ended.size <= MAX_ENDED) break;
      this.#ended.delete(id);
      characters -= weight;
    }
  }
}
