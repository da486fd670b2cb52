// The transcript of one execution or task: its events in order, replayable at any time, with output read back from the logs.
//
// Reading is optional, may start late and never slows the writer. Output past the readable limit appears as one gap with its size. The
// output can also be read by byte offset, both streams in the order in which they were printed.

import type { OutputStream } from "../protocol/execution.ts";
import { ReplayLog } from "../util/async/replay-log.ts";
import { Cursor } from "./cursor.ts";
import type { OutputLimits } from "./output-log.ts";
import { toSlice, type OutputRange, type OutputSlice } from "./output-slice.ts";
import { PrintedOutput } from "./printed-output.ts";

export interface Stamp {
  readonly seq: number;
  readonly time: number;
}

/** Output between two other events, as offsets into the log of its stream. */
interface OutputSpan extends Stamp {
  readonly stream: OutputStream;
  readonly start: number;
  end: number;
}

const STREAMS = ["stdout", "stderr"] as const;
/** Up to this many items, each switch between the streams is recorded exactly. */
const MAX_ITEMS = 50_000;
/** After that, a stream gets a new span only when this much of it is pending. */
const COARSE_BYTES = 64 * 1024;
/** Enough coarse spans for all readable output. After that, pending output waits for the end. */
const MAX_COARSE_ITEMS = MAX_ITEMS + 20_000;
const READ_BYTES = 64 * 1024;
/** The longest incomplete UTF-8 sequence. */
const PARTIAL_BYTES = 3;
const LAST_LINE_BYTES = 2_000;
const LAST_LINE_CHARACTERS = 200;

export abstract class Transcript<Event extends { readonly type: string }> extends ReplayLog<Event, Cursor> {
  readonly printed: PrintedOutput;
  #items: (Event | OutputSpan)[] | undefined;
  /** How many bytes of each stream the items cover. */
  readonly #covered = { stdout: 0, stderr: 0 };
  /** The stamp of the last output that no item covers yet. */
  #pending: Stamp | undefined;
  #hasBegun = false;

  constructor(limits: OutputLimits) {
    super();
    this.printed = new PrintedOutput(limits);
  }

  protected abstract startEvent(): Event;
  protected abstract deltaEvent(stamp: Stamp, stream: OutputStream, text: string): Event;
  protected abstract gapEvent(stamp: Stamp, stream: OutputStream, omittedBytes: number): Event;
  /** Undefined where there is no regular end. */
  protected abstract lastEvent(): Event | undefined;

  /**
   * Right after everything up to now, for a listener that received it live. Undefined: nothing has happened, or the streams alternated so
   * often that their exact order is not recorded.
   */
  get cursor(): string | undefined {
    if (!this.#hasBegun || this.#pending !== undefined) return undefined;
    const items = this.#items ?? [];
    const last = items.at(-1);
    const isOutput = last !== undefined && !("type" in last);
    const cursor = isOutput ? Cursor.at(items.length - 1, last.end) : Cursor.at(items.length, 0);
    cursor.isEnd = this.isComplete;
    for (const stream of STREAMS) {
      const log = this.printed.of(stream);
      if (log !== undefined) cursor.decode(stream, log.read(Math.max(0, log.total - PARTIAL_BYTES), PARTIAL_BYTES));
    }
    return cursor.toString();
  }

  /** From byte `offset` of a stream; without one, of both in the order in which they were printed. */
  output(range: OutputRange = {}): OutputSlice {
    const { stream } = range;
    if (stream !== undefined) return toSlice(this.printed.of(stream), range);
    return toSlice(
      { total: this.printed.total, readable: this.#readable(), read: (from, size) => this.#read(from, size) },
      range,
    );
  }

  /** The last printed line that is not empty, or the end of it if it is long. Empty: there is none. */
  lastLine(): string {
    const readable = this.#readable();
    const text = this.#read(Math.max(0, readable - LAST_LINE_BYTES), LAST_LINE_BYTES).toString("utf8");
    const last = text.split(/[\r\n]+/).findLast((line) => line.trim() !== "");
    return last?.trim().slice(-LAST_LINE_CHARACTERS) ?? "";
  }

  appendOutput(stream: OutputStream, chunk: Buffer, seq: number, time: number): void {
    const { total } = this.printed.append(stream, chunk);
    const items = (this.#items ??= []);
    const last = items.at(-1);
    if (last !== undefined && !("type" in last) && last.stream === stream) {
      last.end = total;
      this.#covered[stream] = total;
    } else if (items.length < MAX_ITEMS || this.#isDue(stream, total)) this.#cover(stream, total, { seq, time });
    else this.#pending = { seq, time };
    this.notifyReaders();
  }

  /** Events past the limit are dropped. */
  appendEvent(event: Event): void {
    const items = (this.#items ??= []);
    if (items.length < MAX_ITEMS) items.push(event);
    this.notifyReaders();
  }

  protected begin(): void {
    this.#hasBegun = true;
    this.notifyReaders();
  }

  /** No events follow. Output that is printed later can still be read by offset. */
  protected end(): void {
    this.coverPending();
    this.printed.finish();
    this.complete();
  }

  /** Adds spans for pending output, when little or nothing more will come. */
  protected coverPending(): void {
    const stamp = this.#pending;
    if (stamp === undefined) return;
    this.#pending = undefined;
    for (const stream of STREAMS) {
      const total = this.printed.of(stream)?.total ?? 0;
      if (total > this.#covered[stream]) this.#cover(stream, total, stamp);
    }
  }

  protected override openCursor(after?: string): Cursor | undefined {
    return after === undefined ? new Cursor() : Cursor.parse(after);
  }

  protected override next(cursor: Cursor): Event | undefined {
    if (!this.#hasBegun && !this.isComplete) return undefined;
    if (cursor.isStart && this.#hasBegun) {
      cursor.isStart = false;
      return this.startEvent();
    }
    for (let item = this.#items?.[cursor.index]; item !== undefined; item = this.#items?.[cursor.index]) {
      if ("type" in item) {
        cursor.toNextItem();
        return item;
      }
      const { stream, start, end } = item;
      cursor.offset = Math.min(Math.max(cursor.offset, start), end);
      const data = this.#readSpan(item, cursor.offset, READ_BYTES);
      cursor.offset += data.length;
      if (data.length > 0) {
        const text = cursor.decode(stream, data);
        if (text !== "") return this.deltaEvent(item, stream, text);
        continue;
      }
      if (!this.isComplete && this.#items?.length === cursor.index + 1) return undefined; // the last span may still grow
      const omittedBytes = end - cursor.offset;
      cursor.toNextItem();
      if (omittedBytes > 0) return this.gapEvent(item, stream, omittedBytes);
    }
    return this.isComplete ? this.#finish(cursor) : undefined;
  }

  /** The last events: incomplete characters at the end of the output, then the end. */
  #finish(cursor: Cursor): Event | undefined {
    for (const stream of STREAMS) {
      const rest = cursor.decodeRest(stream);
      if (rest === "") continue;
      const last = [...this.#spans()].findLast((span) => span.stream === stream);
      if (last !== undefined) return this.deltaEvent(last, stream, rest);
    }
    cursor.isEnd = true;
    return this.lastEvent();
  }

  #isDue(stream: OutputStream, total: number): boolean {
    return total - this.#covered[stream] >= COARSE_BYTES && (this.#items?.length ?? 0) < MAX_COARSE_ITEMS;
  }

  /** Items are only ever added, and only the last one grows, so cursors and offsets stay valid. */
  #cover(stream: OutputStream, end: number, { seq, time }: Stamp): void {
    this.#items?.push({ stream, start: this.#covered[stream], end, seq, time });
    this.#covered[stream] = end;
  }

  /** Stops at the first byte that was dropped. */
  #read(offset: number, length: number): Buffer {
    const parts: Buffer[] = [];
    let position = 0;
    let left = length;
    for (const span of this.#spans()) {
      const size = span.end - span.start;
      const skipped = Math.max(0, offset - position);
      position += size;
      if (skipped >= size) continue;
      const part = this.#readSpan(span, span.start + skipped, left);
      parts.push(part);
      left -= part.length;
      if (left <= 0 || part.length < size - skipped) break;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /** How many bytes can be read before the first one that was dropped. */
  #readable(): number {
    let readable = 0;
    for (const { stream, start, end } of this.#spans()) {
      const there = Math.min(end, this.printed.of(stream)?.readable ?? 0);
      readable += Math.max(0, there - start);
      if (there < end) break;
    }
    return readable;
  }

  *#spans(): Generator<OutputSpan> {
    for (const item of this.#items ?? []) if (!("type" in item)) yield item;
  }

  #readSpan({ stream, end }: OutputSpan, offset: number, length: number): Buffer {
    return this.printed.of(stream)?.read(offset, Math.min(length, end - offset)) ?? Buffer.alloc(0);
  }
}
