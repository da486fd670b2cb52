// What happened in one execution or task, in order: an ordered, finite story that can be iterated at any time.
//
// Iterating is optional, may begin late, and never slows what is told about: output is read back from the log at the reader's
// own pace. What passed the readable bound appears as one gap with its size. The output can also be read by offset, both
// streams in the order in which they came.

import type { OutputStream } from "../protocol/execution.ts";
import type { OutputBounds } from "./output-log.ts";
import { toSlice, type OutputRange, type OutputSlice } from "./output-slice.ts";
import { Place } from "./cursor.ts";
import { PrintedOutput } from "./printed-output.ts";
import { onAbort } from "../util/async/on-abort.ts";

export interface Stamp {
  readonly seq: number;
  readonly time: number;
}

/** Output between two other events, by offsets into the log of its stream. */
interface Stretch extends Stamp {
  readonly stream: OutputStream;
  readonly start: number;
  end: number;
}

/** So often the change from one stream to the other is remembered exactly. */
const MAX_ITEMS = 50_000;
/** After that, one stream waits until it has so much to show, and the other goes on. */
const COARSE_BYTES = 64 * 1024;
/** More than what can be read fills in such pieces. After that, one of them waits for the end. */
const MAX_COARSE_ITEMS = MAX_ITEMS + 20_000;
const READ_BYTES = 64 * 1024;
/** The longest beginning of a character that is not a whole one. */
const PARTIAL_BYTES = 3;
const LAST_LINE_BYTES = 2_000;
const LAST_LINE_CHARACTERS = 200;

export interface FollowOptions {
  /** A place that an earlier reader was told: what comes after it is told. Default: everything. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

export interface Told<Event> {
  readonly event: Event;
  /** Right after the event. */
  readonly place: string;
}

export abstract class Story<Event extends { readonly type: string }> implements AsyncIterable<Event> {
  /** What was printed. */
  readonly printed: PrintedOutput;
  #items: (Event | Stretch)[] | undefined;
  /** How much of each stream is in the items. */
  readonly #listed = { stdout: 0, stderr: 0 };
  /** When something was printed last that is not. */
  #lastWaiting: Stamp | undefined;
  #waiting: Set<() => void> | undefined;
  #hasBegun = false;
  #isOver = false;

  constructor(bounds: OutputBounds) {
    this.printed = new PrintedOutput(bounds);
  }

  protected abstract startEvent(): Event;
  protected abstract deltaEvent(stamp: Stamp, stream: OutputStream, text: string): Event;
  protected abstract gapEvent(stamp: Stamp, stream: OutputStream, omittedBytes: number): Event;
  /** Undefined where it has no regular end. */
  protected abstract lastEvent(): Event | undefined;

  [Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    return this.#tell(new Place());
  }

  /**
   * The story with the place after each event, by which a reader can go on later: `after`. Throws a RangeError for what was never a
   * place. An aborted signal ends the reading.
   */
  follow({ after, signal }: FollowOptions = {}): AsyncGenerator<Told<Event>, void, undefined> {
    const place = after === undefined ? new Place() : Place.parse(after);
    if (place === undefined)
      throw new RangeError(`Cannot go on after '${after}': it is no place in a stream of events`);
    return this.#follow(place, signal);
  }

  /**
   * Right after all that was told until now, for whoever heard it as it happened. Undefined: nothing was, or the two streams took turns
   * so often that their order is not remembered exactly.
   */
  get place(): string | undefined {
    if (!this.#hasBegun || this.#lastWaiting !== undefined) return undefined;
    const items = this.#items ?? [];
    const last = items.at(-1);
    const isOutput = last !== undefined && !("type" in last);
    const place = isOutput ? Place.at(items.length - 1, last.end) : Place.at(items.length, 0);
    place.isEnd = this.#isOver;
    for (const stream of ["stdout", "stderr"] as const) {
      const log = this.printed.of(stream);
      if (log !== undefined) place.decode(stream, log.read(Math.max(0, log.total - PARTIAL_BYTES), PARTIAL_BYTES));
    }
    return place.toString();
  }

  async *#follow(place: Place, signal: AbortSignal | undefined): AsyncGenerator<Told<Event>, void, undefined> {
    for await (const event of this.#tell(place, signal)) yield { event, place: place.toString() };
  }

  async *#tell(place: Place, signal?: AbortSignal): AsyncGenerator<Event, void, undefined> {
    if (place.isEnd) return;
    const isWanted = (): boolean => signal?.aborted !== true;
    while (!this.#hasBegun && !this.#isOver && isWanted()) await this.#change(signal);
    if (this.#hasBegun && place.isStart) {
      place.isStart = false;
      yield this.startEvent();
    }
    while (isWanted()) {
      const item = this.#items?.[place.index];
      const isWhole = this.#isOver || (this.#items !== undefined && this.#items.length > place.index + 1);
      if (item === undefined) {
        if (this.#isOver) break;
        await this.#change(signal);
      } else if ("type" in item) {
        place.toNextItem();
        yield item;
      } else {
        const { stream, start, end } = item;
        place.offset = Math.min(Math.max(place.offset, start), end);
        const data = this.#readStretch(item, place.offset, READ_BYTES);
        place.offset += data.length;
        if (data.length > 0) yield* this.#delta(item, place.decode(stream, data));
        else if (isWhole) {
          const omittedBytes = end - place.offset;
          place.toNextItem();
          if (omittedBytes > 0) yield this.gapEvent(item, stream, omittedBytes);
        } else await this.#change(signal); // the last stretch may still grow
      }
    }
    if (!isWanted()) return;
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = place.decodeRest(stream);
      if (rest === "") continue;
      const last = [...this.#stretches()].findLast((stretch) => stretch.stream === stream);
      if (last !== undefined) yield* this.#delta(last, rest);
    }
    place.isEnd = true;
    const end = this.lastEvent();
    if (end !== undefined) yield end;
  }

  /** From byte `offset` of a stream; without one, of both in the order in which they came. */
  output(range: OutputRange = {}): OutputSlice {
    const { stream } = range;
    if (stream !== undefined) return toSlice(this.printed.of(stream), range);
    return toSlice(
      { total: this.printed.total, readable: this.#readable(), read: (from, size) => this.#read(from, size) },
      range,
    );
  }

  /** The last printed line that is not empty, its last characters if it is long. Empty: there is none. */
  lastLine(): string {
    const readable = this.#readable();
    const text = this.#read(Math.max(0, readable - LAST_LINE_BYTES), LAST_LINE_BYTES).toString("utf8");
    const last = text.split(/[\r\n]+/).findLast((line) => line.trim() !== "");
    return last?.trim().slice(-LAST_LINE_CHARACTERS) ?? "";
  }

  protected begin(): void {
    this.#hasBegun = true;
    this.#wake();
  }

  appendOutput(stream: OutputStream, chunk: Buffer, seq: number, time: number): void {
    const { total } = this.printed.append(stream, chunk);
    const items = (this.#items ??= []);
    const last = items.at(-1);
    if (last !== undefined && !("type" in last) && last.stream === stream) {
      last.end = total;
      this.#listed[stream] = total;
    } else if (items.length < MAX_ITEMS || this.#isDue(stream, total)) this.#list(stream, total, { seq, time });
    else this.#lastWaiting = { seq, time };
    this.#wake();
  }

  /** Past the bound it is not remembered. */
  appendEvent(event: Event): void {
    const items = (this.#items ??= []);
    if (items.length < MAX_ITEMS) items.push(event);
    this.#wake();
  }

  /** Nothing is told after this. What is printed later can still be read. */
  protected end(): void {
    this.listRest();
    this.#isOver = true;
    this.#wake();
  }

  /** What waits for its place gets one: little or nothing more will come. */
  protected listRest(): void {
    const stamp = this.#lastWaiting;
    if (stamp === undefined) return;
    this.#lastWaiting = undefined;
    for (const stream of ["stdout", "stderr"] as const) {
      const total = this.printed.of(stream)?.total ?? 0;
      if (total > this.#listed[stream]) this.#list(stream, total, stamp);
    }
  }

  #isDue(stream: OutputStream, total: number): boolean {
    return total - this.#listed[stream] >= COARSE_BYTES && (this.#items?.length ?? 0) < MAX_COARSE_ITEMS;
  }

  /** Items are only ever added, and only the last one grows: whoever has read to an offset can go on from there. */
  #list(stream: OutputStream, end: number, { seq, time }: Stamp): void {
    this.#items?.push({ stream, start: this.#listed[stream], end, seq, time });
    this.#listed[stream] = end;
  }

  /** Skips what lies before the offset, and ends where something was dropped. */
  #read(offset: number, length: number): Buffer {
    const parts: Buffer[] = [];
    let position = 0;
    let left = length;
    for (const item of this.#stretches()) {
      const size = item.end - item.start;
      const skipped = Math.max(0, offset - position);
      position += size;
      if (skipped >= size) continue;
      const part = this.#readStretch(item, item.start + skipped, left);
      parts.push(part);
      left -= part.length;
      if (left <= 0 || part.length < size - skipped) break;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /** How much can be read before the first byte that was dropped. */
  #readable(): number {
    let readable = 0;
    for (const { stream, start, end } of this.#stretches()) {
      const there = Math.min(end, this.printed.of(stream)?.readable ?? 0);
      readable += Math.max(0, there - start);
      if (there < end) break;
    }
    return readable;
  }

  *#stretches(): Generator<Stretch> {
    for (const item of this.#items ?? []) if (!("type" in item)) yield item;
  }

  #readStretch({ stream, end }: Stretch, offset: number, length: number): Buffer {
    return this.printed.of(stream)?.read(offset, Math.min(length, end - offset)) ?? Buffer.alloc(0);
  }

  *#delta(stretch: Stretch, text: string): Generator<Event> {
    if (text !== "") yield this.deltaEvent(stretch, stretch.stream, text);
  }

  /** Resolves when there is something new, or the signal is aborted. */
  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = (this.#waiting ??= new Set());
      const stopListening = onAbort(signal, () => {
        waiting.delete(wake);
        resolve();
      });
      const wake = (): void => {
        stopListening();
        resolve();
      };
      waiting.add(wake);
    });
  }

  #wake(): void {
    if (this.#waiting === undefined || this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
