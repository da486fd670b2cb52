// One piece of code run in a session: an ordered, finite story that can be iterated at any time, and a result.
//
// Iterating is optional, may begin late, and never slows the code: output is read back from the log at the reader's own
// pace. What passed the readable bound appears as one gap with its size.

import { StringDecoder } from "node:string_decoder";
import type { OutputBounds } from "../output/output-log.ts";
import { PrintedOutput } from "../output/printed-output.ts";
import type { ExecutionEnd, ExecutionEvent, ExecutionStart } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";
import type { Result } from "./result.ts";

/** Output between two other events, by offsets into the log of its stream. */
interface Stretch {
  readonly stream: OutputStream;
  readonly start: number;
  end: number;
  readonly seq: number;
  readonly time: number;
}

interface Stamp {
  readonly seq: number;
  readonly time: number;
}

const MAX_ITEMS = 50_000;
const READ_BYTES = 64 * 1024;

export class Execution implements AsyncIterable<ExecutionEvent> {
  readonly id: ExecutionId;
  readonly sessionId: SessionId;
  readonly code: string;
  /** Its number in the session. */
  readonly count: number;
  /** Never rejects because of what the code did; rejects when the session could not run it at all. */
  readonly result: Promise<Result>;
  /** What it printed; outlives this object in the session's history. */
  readonly output: PrintedOutput;
  #started: Stamp | undefined;
  #items: (ExecutionEvent | Stretch)[] | undefined;
  #ended: (Stamp & { readonly result: Result }) | undefined;
  #waiting: (() => void)[] | undefined;
  #done = false;
  #resolve!: (result: Result) => void;
  #reject!: (error: Error) => void;

  constructor(id: ExecutionId, sessionId: SessionId, count: number, code: string, bounds: OutputBounds) {
    this.id = id;
    this.sessionId = sessionId;
    this.count = count;
    this.code = code;
    this.output = new PrintedOutput(bounds);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExecutionEvent, void, undefined> {
    const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
    while (this.#started === undefined && !this.#done) await this.#change();
    if (this.#started !== undefined) yield this.startEvent();
    let offset = 0;
    for (let index = 0; ;) {
      const item = this.#items?.[index];
      const isOver = this.#done || (this.#items !== undefined && this.#items.length > index + 1);
      if (item === undefined) {
        if (this.#done) break;
        await this.#change();
      } else if ("type" in item) {
        yield item;
        index += 1;
      } else {
        offset = Math.max(offset, item.start);
        const data = this.#read(item, offset);
        offset += data.length;
        if (data.length > 0) yield* this.#delta(item, decoders[item.stream].write(data));
        else if (isOver) {
          if (offset < item.end) yield this.#gap(item, item.end - offset);
          index += 1;
          offset = 0;
        } else await this.#change(); // the last stretch may still grow
      }
    }
    if (this.#ended === undefined) return;
    for (const stream of ["stdout", "stderr"] as const) {
      yield* this.#delta({ stream, ...this.#ended }, decoders[stream].end());
    }
    yield this.endEvent();
  }

  /** Used by the session: from here on everything writes the story, in this order. */
  begin(seq: number, time: number): void {
    this.#started = { seq, time };
    this.#wake();
  }

  appendOutput(stream: OutputStream, chunk: Buffer, seq: number, time: number): void {
    const { total } = this.output.append(stream, chunk);
    const items = (this.#items ??= []);
    const last = items.at(-1);
    if (last !== undefined && !("type" in last) && last.stream === stream) last.end = total;
    else if (items.length < MAX_ITEMS) items.push({ stream, start: total - chunk.length, end: total, seq, time });
    else this.#extendLast(stream, total);
    this.#wake();
  }

  /** Past the bound it is not remembered; whoever listens to the session has heard it. */
  appendEvent(event: ExecutionEvent): void {
    const items = (this.#items ??= []);
    if (items.length < MAX_ITEMS) items.push(event);
    this.#wake();
  }

  settle(result: Result, seq: number, time: number): void {
    this.#ended = { result, seq, time };
    this.#done = true;
    this.#wake();
    this.#resolve(result);
  }

  fail(why: Error): void {
    this.#done = true;
    this.#wake();
    this.result.catch(() => {}); // whoever never looks at the result is not punished for it
    this.#reject(why);
  }

  startEvent(): ExecutionStart {
    const { seq, time } = this.#started ?? { seq: 0, time: 0 };
    const { sessionId, id: executionId, code, count: executionCount } = this;
    return { type: "execution-start", sessionId, executionId, seq, time, code, executionCount };
  }

  /** Only once settled. */
  endEvent(): ExecutionEnd {
    if (this.#ended === undefined) throw new TypeError(`Cannot tell the end of execution ${this.id}: it has not ended`);
    const { seq, time, result } = this.#ended;
    return { type: "execution-end", sessionId: this.sessionId, executionId: this.id, seq, time, result };
  }

  #read({ stream, end }: Stretch, offset: number): Buffer {
    return this.output.of(stream)?.read(offset, Math.min(READ_BYTES, end - offset)) ?? Buffer.alloc(0);
  }

  *#delta({ stream, seq, time }: Omit<Stretch, "start" | "end">, text: string): Generator<ExecutionEvent> {
    const common = { sessionId: this.sessionId, executionId: this.id, seq, time };
    if (text !== "") yield { type: "output-delta", ...common, stream, text };
  }

  #gap({ stream, seq, time }: Stretch, omittedBytes: number): ExecutionEvent {
    const common = { sessionId: this.sessionId, executionId: this.id, seq, time };
    return { type: "output-gap", ...common, stream, omittedBytes };
  }

  #extendLast(stream: OutputStream, end: number): void {
    const last = this.#items?.findLast((item): item is Stretch => !("type" in item) && item.stream === stream);
    if (last !== undefined) last.end = end;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#waiting ??= []).push(resolve));
  }

  #wake(): void {
    if (this.#waiting === undefined) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
