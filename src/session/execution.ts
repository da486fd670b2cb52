// One piece of code run in a session: an ordered, finite story that can be iterated at any time, and a result.
//
// Iterating is optional, may begin late, and never slows the code: output is read back from the log at the reader's own
// pace. What passed the readable bound appears as one gap with its size.

import { StringDecoder } from "node:string_decoder";
import { OutputLog, type OutputBounds } from "../kernel/output-log.ts";
import type { ExecutionEvent } from "../protocol/events.ts";
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

const MAX_ITEMS = 50_000;
const READ_BYTES = 64 * 1024;

export class Execution implements AsyncIterable<ExecutionEvent> {
  readonly id: ExecutionId;
  readonly sessionId: SessionId;
  readonly code: string;
  /** Never rejects because of what the code did; rejects when the session could not run it at all. */
  readonly result: Promise<Result>;
  readonly #bounds: OutputBounds;
  readonly #logs: Partial<Record<OutputStream, OutputLog>> = {};
  readonly #items: (ExecutionEvent | Stretch)[] = [];
  readonly #waiting: (() => void)[] = [];
  #resolve!: (result: Result) => void;
  #reject!: (error: Error) => void;
  #done = false;

  constructor(id: ExecutionId, sessionId: SessionId, code: string, bounds: OutputBounds) {
    this.id = id;
    this.sessionId = sessionId;
    this.code = code;
    this.#bounds = bounds;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.result.catch(() => {}); // whoever never looks at the result is not punished for it
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExecutionEvent, void, undefined> {
    const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
    for (let index = 0; ; ) {
      const item = this.#items[index];
      if (item === undefined) {
        if (this.#done) return;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      } else if ("type" in item) {
        if (item.type === "execution-end") yield* this.#remainders(decoders);
        yield item;
        index += 1;
      } else {
        yield* this.#readStretch(item, index, decoders[item.stream]);
        index += 1;
      }
    }
  }

  /** Used by the session: everything below writes the story. */
  appendOutput(stream: OutputStream, chunk: Buffer, seq: number, time: number): void {
    const log = this.log(stream);
    const start = log.total;
    log.append(chunk);
    const last = this.#items.at(-1);
    if (last !== undefined && !("type" in last) && last.stream === stream) last.end = log.total;
    else if (this.#items.length < MAX_ITEMS) this.#items.push({ stream, start, end: log.total, seq, time });
    else this.#extendLast(stream, log.total);
    this.#wake();
  }

  /** Past the bound only the end is remembered; whoever listens to the session has heard the rest. */
  appendEvent(event: ExecutionEvent): void {
    if (this.#items.length < MAX_ITEMS || event.type === "execution-end") this.#items.push(event);
    this.#wake();
  }

  settle(result: Result): void {
    this.#done = true;
    this.#wake();
    this.#resolve(result);
  }

  fail(error: Error): void {
    this.#done = true;
    this.#wake();
    this.#reject(error);
  }

  log(stream: OutputStream): OutputLog {
    return (this.#logs[stream] ??= new OutputLog(this.#bounds));
  }

  /** The log if anything was printed. */
  printed(stream: OutputStream): OutputLog | undefined {
    return this.#logs[stream];
  }

  /** Forgets what was printed. */
  dropOutput(): void {
    this.#logs.stdout?.close();
    this.#logs.stderr?.close();
  }

  *#readStretch(stretch: Stretch, index: number, decoder: StringDecoder): Generator<ExecutionEvent> {
    const { stream, seq, time } = stretch;
    const log = this.log(stream);
    const common = { sessionId: this.sessionId, executionId: this.id, seq, time, stream };
    let offset = stretch.start;
    // The last stretch may grow while it is read.
    while (offset < Math.min(stretch.end, log.readable)) {
      const data = log.read(offset, Math.min(READ_BYTES, stretch.end - offset));
      if (data.length === 0) break;
      offset += data.length;
      const text = decoder.write(data);
      if (text !== "") yield { type: "output-delta", ...common, text };
    }
    const isOver = this.#done || this.#items.length > index + 1;
    if (offset < stretch.end && isOver) yield { type: "output-gap", ...common, omittedBytes: stretch.end - offset };
    else if (!isOver) this.#splitAt(stretch, index);
  }

  /** What is printed from here on is a stretch of its own, so that a reader who has come this far meets it next. */
  #splitAt(stretch: Stretch, index: number): void {
    if (this.#items[index] !== stretch || this.#items.length !== index + 1) return;
    this.#items.push({ ...stretch, start: stretch.end, end: stretch.end });
  }

  *#remainders(decoders: Record<OutputStream, StringDecoder>): Generator<ExecutionEvent> {
    for (const stream of ["stdout", "stderr"] as const) {
      const text = decoders[stream].end();
      const last = this.#items.at(-1) as ExecutionEvent;
      const common = { sessionId: this.sessionId, executionId: this.id, seq: last.seq, time: last.time };
      if (text !== "") yield { type: "output-delta", ...common, stream, text };
    }
  }

  #extendLast(stream: OutputStream, end: number): void {
    const last = this.#items.findLast((item): item is Stretch => !("type" in item) && item.stream === stream);
    if (last !== undefined) last.end = end;
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
