// Channels of attached streams: each stands for one end of a pipe, as the readers and writers of `local` do for descriptors.

import { Readable, Writable } from "node:stream";
import type { Deliver, PipeReader, PipeWriter } from "../../local/pipes.ts";

/** The first byte of a frame. */
export const KIND = { openReader: 0, openOrdered: 1, openWriter: 2, data: 3, ack: 4, close: 5, batchEnd: 6 } as const;
export const MAX_FRAME = 1024 * 1024;
const WINDOW = 1024 * 1024;
/** What is printed before an event is sent whatever the window. */
export const MAX_UNREAD = 4 * WINDOW;

/** So many bytes are acknowledged at a time: each message passes through several processes of the engine. */
const ACKNOWLEDGED = WINDOW / 4;

export interface Channel {
  receive: (data: Buffer) => void;
  /** A batch is complete: what was received can be handled. */
  handle: () => void;
  /** The other side has taken so many bytes. */
  acknowledge: (bytes: number) => void;
  /** The other side has closed it. */
  end: () => void;
}

/** What channels need of the connection that carries them all. */
export interface Multiplexer {
  send: (kind: number, channel: number, data?: Uint8Array) => void;
  add: (number: number, channel: Channel) => void;
  remove: (number: number, channel: Channel) => void;
}

export function toBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export class ChannelReader implements PipeReader, Channel {
  readonly #multiplexer: Multiplexer;
  readonly #number: number;
  #deliver: Deliver;
  /** What came in this batch, or while it was paused. */
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  /** Bytes that were taken and are not acknowledged yet. */
  #taken = 0;
  #isPaused = false;
  #isOpen = true;
  #isEnded = false;
  onEnd: () => void = () => {};

  constructor(multiplexer: Multiplexer, number: number, deliver: Deliver) {
    this.#multiplexer = multiplexer;
    this.#number = number;
    this.#deliver = deliver;
    multiplexer.add(number, this);
  }

  redirect(deliver: Deliver): void {
    this.#deliver = deliver;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.drain();
  }

  handle(): void {
    if (!this.#isPaused) this.drain();
  }

  drain(): void {
    for (let data = this.#unread.shift(); data !== undefined; data = this.#unread.shift()) {
      this.#unreadBytes -= data.length;
      this.#pass(data);
    }
    if (this.#isEnded) this.#finish();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#multiplexer.send(KIND.close, this.#number);
    this.#finish();
  }

  receive(data: Buffer): void {
    this.#unreadBytes += data.length;
    if (this.#unreadBytes > MAX_UNREAD) throw new Error("its container sent more than there is room for");
    this.#unread.push(data);
  }

  acknowledge(): void {} // it sends nothing

  end(): void {
    this.#isEnded = true;
    if (this.#unread.length === 0) this.#finish();
  }

  #pass(data: Buffer): void {
    if (!this.#isOpen) return;
    this.#deliver(data, data.length);
    this.#taken += data.length;
    if (this.#isEnded || this.#taken < ACKNOWLEDGED) return;
    this.#multiplexer.send(KIND.ack, this.#number, toBytes(this.#taken));
    this.#taken = 0;
  }

  #finish(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#unread = [];
    this.#multiplexer.remove(this.#number, this);
    this.onEnd();
  }
}

export class ChannelWriter implements PipeWriter, Channel {
  readonly #multiplexer: Multiplexer;
  readonly #number: number;
  /** Sent, and not taken yet. */
  #sent = 0;
  readonly #queue: Buffer[] = [];
  #queued = 0;
  #isOpen = true;
  #hasReader = true;
  #waiting: (() => void)[] = [];

  constructor(multiplexer: Multiplexer, number: number) {
    this.#multiplexer = multiplexer;
    this.#number = number;
    multiplexer.add(number, this);
  }

  get hasReader(): boolean {
    return this.#hasReader;
  }

  get backlog(): number {
    return this.#isOpen ? this.#sent + this.#queued : 0;
  }

  write(text: string): void {
    this.writeBytes(Buffer.from(text));
  }

  writeBytes(data: Uint8Array): void {
    if (!this.#isOpen) {
      this.#hasReader = false;
      return;
    }
    this.#queue.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    this.#queued += data.length;
    this.#flush();
  }

  taken(): Promise<void> {
    return this.backlog === 0 ? Promise.resolve() : new Promise((resolve) => this.onTaken(resolve));
  }

  onTaken(done: () => void): void {
    if (this.backlog === 0) done();
    else this.#waiting.push(done);
  }

  acknowledge(bytes: number): void {
    this.#sent = Math.max(0, this.#sent - bytes);
    this.#flush();
    if (this.backlog === 0) this.#release();
  }

  close(): void {
    if (!this.#isOpen) return;
    if (this.#queued > 0) this.#hasReader = false;
    this.#multiplexer.send(KIND.close, this.#number);
    this.#finish();
  }

  receive(): void {} // nothing is read from it

  handle(): void {}

  end(): void {
    if (this.backlog > 0) this.#hasReader = false; // what was taken is acknowledged before this
    this.#finish();
  }

  #flush(): void {
    while (this.#isOpen && this.#sent < WINDOW) {
      const [next] = this.#queue;
      if (next === undefined) return;
      const part = next.subarray(0, Math.min(WINDOW - this.#sent, MAX_FRAME));
      if (part.length === next.length) this.#queue.shift();
      else this.#queue[0] = next.subarray(part.length);
      this.#queued -= part.length;
      this.#sent += part.length;
      this.#multiplexer.send(KIND.data, this.#number, part);
    }
  }

  #finish(): void {
    this.#isOpen = false;
    this.#multiplexer.remove(this.#number, this);
    this.#queue.length = 0;
    this.#queued = 0;
    this.#release();
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export function toWritable(multiplexer: Multiplexer, number: number): Writable {
  const writer = new ChannelWriter(multiplexer, number);
  return new Writable({
    write(chunk: Buffer, _, done) {
      writer.writeBytes(chunk);
      writer.onTaken(() => done(writer.hasReader ? null : new Error("the reader closed it")));
    },
    final(done) {
      writer.close();
      done();
    },
    destroy(error, done) {
      writer.close();
      done(error);
    },
  });
}

export function toReadable(multiplexer: Multiplexer, number: number): Readable {
  const reader = new ChannelReader(multiplexer, number, (buffer, length) => {
    if (!stream.push(Buffer.from(buffer.subarray(0, length)))) reader.pause();
  });
  const stream: Readable = new Readable({
    read: () => reader.resume(),
    destroy(error, done) {
      reader.close();
      done(error);
    },
  });
  reader.onEnd = () => void stream.push(null);
  return stream;
}
