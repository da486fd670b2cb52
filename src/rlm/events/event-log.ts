// The events of a run in memory, replayable from the first one on without slowing the run.
//
// The size is limited; the oldest events are dropped first. Deltas are dropped silently, since the event that ends a call has the whole
// text. Instead of other dropped events a reader gets one `event-gap` with the range of missing numbers; the run's log on disk has them.

import type { RunEvent } from "../../protocol/run-events.ts";
import { ReplayLog } from "../../util/async/replay-log.ts";

interface Limit {
  readonly events: number;
  readonly characters: number;
}

const MAX_DELTAS: Limit = { events: 20_000, characters: 16 * 1024 * 1024 };
const MAX_OTHERS: Limit = { events: 100_000, characters: 32 * 1024 * 1024 };
const CURSOR = /^\d{1,15}$/;

export class EventLog extends ReplayLog<RunEvent, SeqCursor> {
  readonly #deltas: RecentEvents;
  readonly #others: RecentEvents;

  constructor({ deltas = MAX_DELTAS, others = MAX_OTHERS }: { readonly deltas?: Limit; readonly others?: Limit } = {}) {
    super();
    this.#deltas = new RecentEvents(deltas);
    this.#others = new RecentEvents(others);
  }

  /** The approximate size of what is kept. */
  get characters(): number {
    return this.#deltas.characters + this.#others.characters;
  }

  push(event: RunEvent): void {
    const isDelta = event.type === "model-call-delta" || event.type === "output-delta";
    (isDelta ? this.#deltas : this.#others).push(event);
    this.notifyReaders();
  }

  end(): void {
    this.complete();
  }

  protected override openCursor(after = "0"): SeqCursor | undefined {
    return CURSOR.test(after) ? new SeqCursor(Number(after)) : undefined;
  }

  protected override next(cursor: SeqCursor): RunEvent | undefined {
    const event = this.#eventAfter(cursor.seq);
    if (event !== undefined) cursor.seq = event.seq;
    return event;
  }

  #eventAfter(seq: number): RunEvent | undefined {
    const { lastDropped } = this.#others;
    if (lastDropped !== undefined && lastDropped.seq > seq) return { type: "event-gap", ...lastDropped, after: seq };
    const delta = this.#deltas.after(seq);
    const other = this.#others.after(seq);
    return delta !== undefined && delta.seq < (other?.seq ?? Infinity) ? delta : other;
  }
}

class SeqCursor {
  /** The number of the last event that was read. */
  seq: number;

  constructor(seq: number) {
    this.seq = seq;
  }

  toString(): string {
    return String(this.seq);
  }
}

/** A FIFO buffer that drops the oldest events past its limit. */
class RecentEvents {
  readonly #limit: Limit;
  #kept: ({ readonly event: RunEvent; readonly size: number } | undefined)[] = [];
  /** Entries of `#kept` before this index were dropped. */
  #start = 0;
  #characters = 0;
  #lastDropped: Pick<RunEvent, "runId" | "seq" | "time"> | undefined;

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  get characters(): number {
    return this.#characters;
  }

  get lastDropped(): Pick<RunEvent, "runId" | "seq" | "time"> | undefined {
    return this.#lastDropped;
  }

  /** The newest event is kept whatever its size. */
  push(event: RunEvent): void {
    const size = sizeOf(event);
    this.#kept.push({ event, size });
    this.#characters += size;
    while (this.#isFull() && this.#start < this.#kept.length - 1) this.#dropOldest();
  }

  /** The first kept event with a higher number. */
  after(seq: number): RunEvent | undefined {
    let [low, high] = [this.#start, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#kept[middle]?.event.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return this.#kept[low]?.event;
  }

  #isFull(): boolean {
    const { events, characters } = this.#limit;
    return this.#kept.length - this.#start > events || this.#characters > characters;
  }

  #dropOldest(): void {
    const oldest = this.#kept[this.#start];
    if (oldest === undefined) return;
    const { runId, seq, time } = oldest.event;
    this.#lastDropped = { runId, seq, time };
    this.#characters -= oldest.size;
    this.#kept[this.#start] = undefined;
    this.#start += 1;
    if (this.#start < this.#kept.length / 2) return;
    this.#kept = this.#kept.slice(this.#start);
    this.#start = 0;
  }
}

/** The approximate number of characters. Of a call's messages only the last two are new. */
function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 4) return 8;
  let sum = 8;
  for (const name in value) {
    const item = (value as Record<string, unknown>)[name];
    const isLong = name === "messages" && Array.isArray(item) && item.length > 2;
    sum += sizeOf(isLong ? item.slice(-2) : item, depth + 1);
  }
  return sum;
}
