// Puts the output of both streams in the order in which the worker wrote it.
//
// Each stream has its own pipe, and the pipes are read apart. The worker sends marks on the event pipe: so many bytes of each stream come
// before what follows. A mark is sent after the bytes before it were written and before those that follow. So once the event pipe has been
// read, every mark before the bytes at hand is known, and the bytes before such a mark are in their pipe: they are read at once, and
// nothing ever waits for the worker. Bytes that no mark accounts for (of C code, of child processes) pass as they come.
// The worker writes nothing after the first mark of an execution until the host has read it, so without a mark there is nothing to do.
//
// Marks are not trusted. Wrong ones change the order of output within the session, and nothing else.

import type { Worker } from "../environments/environment.ts";
import type { OutputStream } from "../protocol/execution.ts";
import { MAX_MARKS } from "../protocol/worker/limits.ts";
import type { OrderEvent } from "../protocol/worker/worker-events.ts";
import type { OutputFlow } from "./output-flow.ts";

/** What is read at a time before other work of the host comes first. */
const MAX_ROUNDS = 16;
const STREAMS = ["stdout", "stderr"] as const;

/** Gets the next bytes in order, which are only valid during the call. */
type Deliver = (stream: OutputStream, chunk: Buffer) => void;

export class OutputOrder {
  readonly #worker: Pick<Worker, "readEvents" | "drain">;
  readonly #flow: Pick<OutputFlow, "stateOf">;
  readonly #deliverNext: Deliver;
  #marks: OrderEvent[] = [];
  #next = 0;
  /** Bytes that were read and not delivered. Empty whenever the host does other work, but for a flood. */
  readonly #read: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] };
  /** Delivered since the last `end`. */
  readonly #delivered: Record<OutputStream, number> = { stdout: 0, stderr: 0 };
  /** How many of these no mark accounts for, as far as that is known. */
  readonly #unmarked: Record<OutputStream, number> = { stdout: 0, stderr: 0 };
  /** The stream that follows the last mark. */
  #last: OutputStream = "stdout";
  #received = 0;
  #isBusy = false;
  #isScheduled = false;

  /** What the worker delivers comes to `receive` and `mark`. */
  constructor(worker: Pick<Worker, "readEvents" | "drain">, flow: Pick<OutputFlow, "stateOf">, deliver: Deliver) {
    this.#worker = worker;
    this.#flow = flow;
    this.#deliverNext = deliver;
  }

  /** Whether the mark was expected. */
  mark(event: OrderEvent): boolean {
    if (this.#received >= MAX_MARKS) return false;
    this.#received += 1;
    if (event.all) this.flush({ pending: true });
    this.#marks.push(event);
    // Whatever was delivered until now was written before the mark.
    for (const stream of STREAMS) {
      this.#unmarked[stream] = Math.max(this.#unmarked[stream], this.#delivered[stream] - event[stream]);
    }
    return true;
  }

  /** Bytes from a pipe, which are only valid during the call. */
  receive(stream: OutputStream, chunk: Buffer): void {
    if (this.#received === 0) {
      this.#deliver(stream, chunk);
      return;
    }
    if (this.#isBusy) {
      this.#read[stream].push(Buffer.from(chunk));
      return;
    }
    this.#read[stream].push(chunk);
    this.#isBusy = true;
    this.#worker.readEvents(); // may end the execution, and deliver everything
    this.#isBusy = false;
    if (this.#hasRead) this.#order(MAX_ROUNDS);
  }

  /** Delivers everything, held or not. `pending`: also what is still in the pipes. */
  flush({ pending }: { readonly pending: boolean }): void {
    if (pending) {
      const wasBusy = this.#isBusy;
      this.#isBusy = true;
      this.#worker.drain();
      this.#isBusy = wasBusy;
    }
    this.#order(0);
  }

  /** A stream that was held is not any more. */
  resume(): void {
    if (this.#hasRead && !this.#isBusy) this.#order(MAX_ROUNDS);
  }

  /** The execution has ended. Delivers everything; later marks count from here. */
  end(options: { readonly pending: boolean }): void {
    this.flush(options);
    this.#marks = [];
    this.#next = this.#received = 0;
    for (const stream of STREAMS) this.#delivered[stream] = this.#unmarked[stream] = 0;
  }

  get #hasRead(): boolean {
    return this.#read.stdout.length > 0 || this.#read.stderr.length > 0;
  }

  /** Delivers what was read. Reads more for a mark, at most so many times; what is in order until then is delivered. */
  #order(rounds: number): void {
    let left = rounds;
    for (;;) {
      const mark = this.#marks[this.#next];
      if (mark === undefined) break;
      const missing = STREAMS.find((stream) => !this.#deliverTo(stream, mark[stream] + this.#unmarked[stream]));
      if (missing === undefined) this.#pass(mark);
      else if (rounds === 0) this.#passWithout(missing, mark);
      else {
        const state = this.#flow.stateOf(missing);
        if (state === "both-held") return this.#keep();
        if (state === "held") this.#pass(mark);
        else if (left === 0) return this.#orderLater();
        else if (!this.#readMore(missing)) this.#passWithout(missing, mark);
        left -= 1;
      }
    }
    this.#marks = [];
    this.#next = 0;
    this.#deliverRest();
  }

  /** Delivers up to a total. Whether it was reached. */
  #deliverTo(stream: OutputStream, total: number): boolean {
    const chunks = this.#read[stream];
    for (let chunk = chunks[0]; chunk !== undefined; chunk = chunks[0]) {
      const wanted = total - this.#delivered[stream];
      if (wanted <= 0) return true;
      if (chunk.length > wanted) {
        chunks[0] = chunk.subarray(wanted);
        this.#deliver(stream, chunk.subarray(0, wanted));
      } else {
        chunks.shift();
        this.#deliver(stream, chunk);
      }
    }
    return this.#delivered[stream] >= total;
  }

  /** Whether the pipe of a stream contained anything. */
  #readMore(stream: OutputStream): boolean {
    const before = this.#read[stream].length;
    this.#isBusy = true;
    this.#worker.drain(stream);
    this.#worker.readEvents();
    this.#isBusy = false;
    return this.#read[stream].length > before;
  }

  #pass(mark: OrderEvent): void {
    if (this.#marks[this.#next] !== mark) return; // the execution has ended meanwhile
    this.#next += 1;
    this.#last = mark.next;
  }

  /** The bytes before the mark are not in the pipe: they went elsewhere. */
  #passWithout(stream: OutputStream, mark: OrderEvent): void {
    if (this.#marks[this.#next] !== mark) return;
    this.#unmarked[stream] = this.#delivered[stream] - mark[stream];
    const isReached = STREAMS.every((each) => this.#delivered[each] >= mark[each] + this.#unmarked[each]);
    if (isReached) this.#pass(mark);
  }

  /** What no mark follows: first the stream that the worker has left. Its bytes are of others, or a mark would follow. */
  #deliverRest(): void {
    this.#deliverAll(this.#last === "stdout" ? "stderr" : "stdout");
    this.#deliverAll(this.#last);
  }

  #deliverAll(stream: OutputStream): void {
    const chunks = this.#read[stream];
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) this.#deliver(stream, chunk);
  }

  #deliver(stream: OutputStream, chunk: Buffer): void {
    this.#delivered[stream] += chunk.length;
    this.#deliverNext(stream, chunk);
  }

  /** For later: the chunks are only valid now. */
  #keep(): void {
    for (const stream of STREAMS) this.#read[stream] = this.#read[stream].map((chunk) => Buffer.from(chunk));
  }

  /** The worker prints as fast as the host reads. */
  #orderLater(): void {
    this.#keep();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#order(MAX_ROUNDS);
    });
  }
}
