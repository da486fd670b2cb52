// The events of a run for whoever iterates it, from the first one on, at their own pace, without holding up the run.
//
// What is kept is bounded, whoever reads and however slowly: past the bound the oldest go. Deltas go by themselves, and silently, since
// the events that end what they belong to have the whole. In place of others that a reader can no longer have it is told an
// `event-gap`, once, with the numbers of what is missing; the log of the run has them.

import type { RunEvent } from "../../protocol/run-events.ts";
import { onAbort } from "../../util/async/on-abort.ts";

interface Bound {
  readonly events: number;
  readonly characters: number;
}

const MAX_DELTAS: Bound = { events: 20_000, characters: 16 * 1024 * 1024 };
const MAX_OTHERS: Bound = { events: 100_000, characters: 32 * 1024 * 1024 };

export class EventQueue {
  readonly #deltas: Lane;
  readonly #others: Lane;
  #isOver = false;
  readonly #waiting = new Set<() => void>();

  constructor({ deltas = MAX_DELTAS, others = MAX_OTHERS }: { readonly deltas?: Bound; readonly others?: Bound } = {}) {
    this.#deltas = new Lane(deltas);
    this.#others = new Lane(others);
  }

  /** About how many it keeps. */
  get characters(): number {
    return this.#deltas.characters + this.#others.characters;
  }

  push(event: RunEvent): void {
    const isDelta = event.type === "model-call-delta" || event.type === "output-delta";
    (isDelta ? this.#deltas : this.#others).push(event);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** What comes after the event with this number; 0: all. An aborted signal ends the reading. */
  async *read(after = 0, signal?: AbortSignal): AsyncGenerator<RunEvent, void, undefined> {
    const isWanted = (): boolean => signal?.aborted !== true;
    for (let seen = after; isWanted();) {
      const next = this.#next(seen);
      if (next !== undefined) {
        seen = next.seq;
        yield next;
      } else if (this.#isOver) return;
      else await this.#change(signal);
    }
  }

  #next(seen: number): RunEvent | undefined {
    const { lastGone } = this.#others;
    if (lastGone !== undefined && lastGone.seq > seen) return { type: "event-gap", ...lastGone, after: seen };
    const delta = this.#deltas.next(seen);
    const other = this.#others.next(seen);
    return delta !== undefined && delta.seq < (other?.seq ?? Infinity) ? delta : other;
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

/** The last events of a kind. */
class Lane {
  readonly #bound: Bound;
  #kept: ({ readonly event: RunEvent; readonly weight: number } | undefined)[] = [];
  /** What was before it, in `kept`, is gone. */
  #start = 0;
  #characters = 0;
  #lastGone: Pick<RunEvent, "runId" | "seq" | "time"> | undefined;

  constructor(bound: Bound) {
    this.#bound = bound;
  }

  get characters(): number {
    return this.#characters;
  }

  get lastGone(): Pick<RunEvent, "runId" | "seq" | "time"> | undefined {
    return this.#lastGone;
  }

  /** The newest is kept whatever it weighs. */
  push(event: RunEvent): void {
    const weight = weigh(event);
    this.#kept.push({ event, weight });
    this.#characters += weight;
    while (this.#isFull() && this.#start < this.#kept.length - 1) this.#dropOldest();
  }

  /** The first that is kept with a higher number. */
  next(seq: number): RunEvent | undefined {
    let [low, high] = [this.#start, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#kept[middle]?.event.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return this.#kept[low]?.event;
  }

  #isFull(): boolean {
    const { events, characters } = this.#bound;
    return this.#kept.length - this.#start > events || this.#characters > characters;
  }

  #dropOldest(): void {
    const oldest = this.#kept[this.#start];
    if (oldest === undefined) return;
    const { runId, seq, time } = oldest.event;
    this.#lastGone = { runId, seq, time };
    this.#characters -= oldest.weight;
    this.#kept[this.#start] = undefined;
    this.#start += 1;
    if (this.#start < this.#kept.length / 2) return;
    this.#kept = this.#kept.slice(this.#start);
    this.#start = 0;
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
