// A file job of a session without a fork server: it runs in the host's process, and talks as every other job does.

import type { Job } from "../../environment.ts";
import { handleRequest } from "./file-operations.ts";

const NEWLINE = 10;

export class SeatBeltJob implements Job {
  readonly ended: Promise<void>;
  readonly #incoming = new HandoffQueue();
  readonly #outgoing = new HandoffQueue();

  constructor(folder: string) {
    const over = (): void => this.close();
    this.ended = this.#run(folder).then(over, over); // it rejects only when the reader has closed it
  }

  write(data: string | Uint8Array): Promise<boolean> {
    return this.#incoming.add(Buffer.from(data));
  }

  output(): AsyncIterable<Buffer> {
    return this.#outgoing;
  }

  close(): void {
    this.#incoming.end();
    this.#outgoing.end();
  }

  async #run(folder: string): Promise<void> {
    const reader = new LineReader(this.#incoming);
    const request = await reader.line();
    if (request === undefined) return;
    await handleRequest(folder, request, {
      send: async (answer, payload = new Uint8Array()) => {
        const message = Buffer.concat([Buffer.from(`${JSON.stringify(answer)}\n`), payload]);
        if (!(await this.#outgoing.add(message))) throw new Error("the reader closed it");
      },
      payloads: () => reader.payloads(),
    });
  }
}

/** Buffers from a writer to one reader. `add` resolves when it is taken, to false once it has ended. */
class HandoffQueue implements AsyncIterable<Buffer> {
  readonly #waiting: { readonly data: Buffer; readonly taken: (isTaken: boolean) => void }[] = [];
  #wake: () => void = () => {};
  #isEnded = false;

  add(data: Buffer): Promise<boolean> {
    if (this.#isEnded) return Promise.resolve(false);
    const taken = new Promise<boolean>((resolve) => this.#waiting.push({ data, taken: resolve }));
    this.#wake();
    return taken;
  }

  end(): void {
    this.#isEnded = true;
    for (const { taken } of this.#waiting.splice(0)) taken(false);
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        next.taken(true);
        yield next.data;
      } else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Lines of JSON, and the bytes that some of them announce. */
class LineReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async line(): Promise<Readonly<Record<string, unknown>> | undefined> {
    for (;;) {
      const end = this.#rest.indexOf(NEWLINE);
      if (end >= 0) {
        const line = this.#rest.subarray(0, end).toString();
        this.#rest = this.#rest.subarray(end + 1);
        return JSON.parse(line) as Readonly<Record<string, unknown>>; // from our own code
      }
      if (!(await this.#more())) return undefined;
    }
  }

  /** Throws if it ends before it says so: then nothing must be written. */
  async *payloads(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const message = await this.line();
      if (message === undefined) throw new Error("the content is incomplete");
      if (message["end"] === true) return;
      let left = Number(message["bytes"]);
      while (left > 0) {
        if (this.#rest.length === 0 && !(await this.#more())) throw new Error("the content is incomplete");
        const part = this.#rest.subarray(0, left);
        this.#rest = this.#rest.subarray(part.length);
        left -= part.length;
        yield part;
      }
    }
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#pieces.next();
    if (done === true) return false;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}
