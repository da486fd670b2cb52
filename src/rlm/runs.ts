// The runs of one runtime, by id: those that go on, and the last ones that ended. All that were recorded are in the log.

import type { Run } from "./run.ts";

const MAX_ENDED = 100;

export class Runs {
  readonly #live = new Map<string, Run>();
  readonly #ended = new Map<string, Run>();

  /** Undefined: it is not known here. */
  get(id: string): Run | undefined {
    return this.#live.get(id) ?? this.#ended.get(id);
  }

  list(): readonly Run[] {
    return [...this.#ended.values(), ...this.#live.values()];
  }

  /** Used by the runtime. */
  add(run: Run): void {
    this.#live.set(run.id, run);
    const end = (): void => {
      this.#live.delete(run.id);
      this.#ended.set(run.id, run);
      const [oldest] = this.#ended.keys();
      if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    };
    run.result.then(end, end);
  }

  /** Resolves when all have ended. */
  async cancelAll(): Promise<void> {
    const live = [...this.#live.values()];
    for (const run of live) run.cancel();
    await Promise.allSettled(live.map(({ result }) => result));
  }
}
