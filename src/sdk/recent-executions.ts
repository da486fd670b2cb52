// The executions of a runtime by id: running ones, and those that ended recently, within limits on their number and size.
//
// Adding one costs a slot in an array, because every execution pays for it; finding one is rare and searches.

import { IdReusedError } from "../errors.ts";
import type { Execution } from "../session/execution/execution.ts";

/** Of those whose ids were generated. Sessions keep fewer outputs than that, and more would slow down every execution. */
const MAX_ENTRIES = 128;
/** Of those whose callers chose an id, and may ask for the same work again. */
const MAX_CHOSEN = 1000;
/** Of the code and the results of all of them. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** How many may be added between two checks of the limits. */
const CHECK_EVERY = 64;

export class RecentExecutions {
  #entries: Execution[] = [];
  /** Those whose output stays readable although their sessions have ended. */
  readonly #held = new Set<Execution>();
  /** Of executions whose callers chose an id. */
  readonly #fingerprints = new WeakMap<Execution, string>();
  /** One-off executions whose sessions are being opened, by id. */
  readonly #starting = new Map<string, { readonly fingerprint: string; readonly execution: Promise<Execution> }>();
  #untilCheck = CHECK_EVERY;

  /** `fingerprint`: where it can be requested again by its id. */
  add(execution: Execution, fingerprint?: string): void {
    if (fingerprint !== undefined) this.#fingerprints.set(execution, fingerprint);
    this.#entries.push(execution);
    this.#untilCheck -= 1;
    if (this.#untilCheck === 0) this.#dropOldest();
  }

  /** Keeps the output of an execution readable when its session has ended. */
  hold(execution: Execution): void {
    execution.printed.hold();
    this.#held.add(execution);
  }

  /** Undefined: not known. */
  find(id: string): Execution | undefined {
    return this.#entries.findLast((execution) => execution.id === id);
  }

  /** One that is being started counts. Undefined: not known. */
  findOrStarting(id: string): Execution | Promise<Execution> | undefined {
    return this.find(id) ?? this.#starting.get(id)?.execution;
  }

  /** The execution that was started under this id, else a new one. Throws IdReusedError where it is other work. */
  startOnce(id: string, fingerprint: string, start: () => Execution): Execution {
    const found = this.find(id);
    if (found !== undefined) return this.#checkSame(found, fingerprint);
    if (this.#starting.has(id)) throw new IdReusedError({ id, kind: "execution" });
    const execution = start();
    this.add(execution, fingerprint);
    return execution;
  }

  /** As `startOnce`, for what takes time to start; `start` adds it. Calls with the same id share one start. */
  async startOnceLater(id: string, fingerprint: string, start: () => Promise<Execution>): Promise<Execution> {
    const found = this.find(id);
    if (found !== undefined) return this.#checkSame(found, fingerprint);
    const starting = this.#starting.get(id) ?? { fingerprint, execution: start() };
    if (starting.fingerprint !== fingerprint) throw new IdReusedError({ id, kind: "execution" });
    this.#starting.set(id, starting);
    try {
      return await starting.execution;
    } finally {
      this.#starting.delete(id);
    }
  }

  #checkSame(found: Execution, fingerprint: string): Execution {
    if (this.#fingerprints.get(found) === fingerprint) return found;
    throw new IdReusedError({ id: found.id, kind: "execution" });
  }

  close(): void {
    this.#entries = [];
    for (const execution of this.#held) execution.printed.close();
    this.#held.clear();
  }

  /** Running ones are kept. */
  #dropOldest(): void {
    this.#untilCheck = CHECK_EVERY;
    let [characters, chosen, generated] = [0, 0, 0];
    const kept: Execution[] = [];
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const execution = this.#entries[index];
      if (execution === undefined) continue;
      characters += execution.size;
      const isAmong = this.#fingerprints.has(execution) ? ++chosen <= MAX_CHOSEN : ++generated <= MAX_ENTRIES;
      if (!execution.isOver || (isAmong && characters <= MAX_CHARACTERS)) kept.push(execution);
      else if (this.#held.delete(execution)) execution.printed.close();
    }
    this.#entries = kept.toReversed();
  }
}

/** Tells whether two requests are the same request. Who waits for it, and who answers its input, does not count. */
export function toFingerprint(sessionId: string | null, code: string, options: object): string {
  const { id: _, signal: _signal, onInput: _onInput, onCall: _onCall, ...own } = options as Record<string, unknown>;
  return JSON.stringify([sessionId, code, sorted(own)]);
}

function sorted(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return null; // no limit
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]);
}
