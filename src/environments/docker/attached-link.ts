// The link to a container whose engine shares no folder with this machine: everything goes over its attached streams, in frames
// (python/forkserver/container/relay.py has the other side, and says what a frame is). All that arrives is hostile until parsed, and has a bound.

import type { Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import type { Deliver, PipeEnd, PipeReader, Pipes, PipeToOpen, PipeWriter } from "../local/pipes.ts";
import type { ServerEnd, ServerLink } from "../local/fork-server.ts";
import { parseEvent, parseFirst } from "./events.ts";

const KIND = { openReader: 0, openOrdered: 1, openWriter: 2, data: 3, taken: 4, close: 5 } as const;
const HEADER_BYTES = 9;
/** Of the engine: which stream, and how much. */
const ENGINE_HEADER_BYTES = 8;
const WINDOW = 1024 * 1024;
/** What is printed before an event is sent without waiting. */
const MAX_UNREAD = 4 * WINDOW;
const MAX_FRAME = 1024 * 1024;
const MAX_CHANNELS = 10_000;
const MAX_ERRORS = 4096;
const CONTROL = 0;

export function attachedLink(socket: Socket, whyEnded: Promise<string>, kill: () => void): ServerLink {
  const streams = new AttachedStreams(socket);
  const ended = streams.ended.then(async (why): Promise<ServerEnd> => {
    const reason = why ?? (await Promise.race([whyEnded, soon("its container ended")]));
    return { why: reason, facts: {} };
  });
  return {
    pipes: () => streams,
    ended,
    onData: (deliver) => streams.onControl(deliver),
    write: (line) => streams.send(KIND.data, CONTROL, Buffer.from(line)),
    end: () => streams.send(KIND.close, CONTROL),
    kill: () => {
      socket.destroy();
      kill();
    },
    check: { first: parseFirst, event: parseEvent },
  };
}

function soon(text: string): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(text), 1_000).unref();
  });
}

interface Channel {
  receive: (data: Buffer) => void;
  /** The other side has read as much. */
  acknowledge: (bytes: number) => void;
  /** The other side has closed it. */
  end: () => void;
}

class AttachedStreams implements Pipes {
  readonly #socket: Socket;
  readonly #channels = new Map<number, Channel>();
  #control: (chunk: Buffer) => void = () => {};
  #early: Buffer[] = [];
  #isHeard = false;
  /** What the engine sent, and what of that came from the container's stdout. */
  #fromEngine: Buffer = Buffer.alloc(0);
  #frames: Buffer = Buffer.alloc(0);
  #errors = "";
  /** Resolves with what the container said on stderr, or why it is not trusted any more. */
  readonly ended: Promise<string | undefined>;

  constructor(socket: Socket) {
    this.#socket = socket;
    let fault: string | undefined;
    socket.on("data", (chunk: Buffer) => {
      try {
        this.#receive(chunk);
      } catch (error) {
        fault ??= (error as Error).message;
        socket.destroy();
      }
    });
    socket.on("error", () => {});
    this.ended = new Promise((resolve) => {
      socket.once("close", () => {
        const channels = [...this.#channels.values()];
        this.#channels.clear();
        for (const channel of channels) channel.end();
        resolve(fault ?? (this.#errors.trim().split("\n").at(-1) || undefined));
      });
      socket.once("end", () => socket.destroy());
    });
  }

  onControl(deliver: (chunk: Buffer) => void): void {
    this.#control = deliver;
    this.#isHeard = true;
    for (const chunk of this.#early.splice(0)) deliver(chunk);
  }

  send(kind: number, channel: number, data: Uint8Array = Buffer.alloc(0)): void {
    if (this.#socket.destroyed) return;
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUInt8(kind, 0);
    header.writeUInt32BE(channel, 1);
    header.writeUInt32BE(data.length, 5);
    this.#socket.cork();
    this.#socket.write(header);
    if (data.length > 0) this.#socket.write(data);
    this.#socket.uncork();
  }

  open(pipes: readonly PipeToOpen[]): PipeEnd[] {
    if (this.#socket.destroyed) throw new Error("the container has ended");
    if (this.#channels.size > MAX_CHANNELS) throw new Error("too many pipes are open");
    // Of a worker's five the third has events, which come after what was printed before them.
    return pipes.map(([pipe, direction], index) => {
      const isOrdered = direction === "read" && pipes.length === 5 && index === 2;
      this.send(direction === "write" ? KIND.openWriter : isOrdered ? KIND.openOrdered : KIND.openReader, pipe);
      return {
        reader: (deliver) => new ChannelReader(this, pipe, deliver),
        writer: () => new ChannelWriter(this, pipe),
        input: () => toWritable(this, pipe),
        output: () => toReadable(this, pipe),
      };
    });
  }

  add(number: number, channel: Channel): void {
    this.#channels.set(number, channel);
  }

  remove(number: number, channel: Channel): void {
    if (this.#channels.get(number) === channel) this.#channels.delete(number);
  }

  #receive(chunk: Buffer): void {
    this.#fromEngine = this.#fromEngine.length === 0 ? chunk : Buffer.concat([this.#fromEngine, chunk]);
    const parts: Buffer[] = this.#frames.length === 0 ? [] : [this.#frames];
    let at = 0;
    const all = this.#fromEngine;
    while (at + ENGINE_HEADER_BYTES <= all.length) {
      const length = all.readUInt32BE(at + 4);
      if (length > MAX_FRAME * 2) throw new Error("the engine sent a part that is too long");
      const end = at + ENGINE_HEADER_BYTES + length;
      if (end > all.length) break;
      const part = all.subarray(at + ENGINE_HEADER_BYTES, end);
      if (all[at] === 2) this.#errors = (this.#errors + part.toString()).slice(-MAX_ERRORS);
      else parts.push(part);
      at = end;
    }
    this.#fromEngine = all.subarray(at);
    this.#split(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts));
  }

  #split(all: Buffer): void {
    let at = 0;
    while (at + HEADER_BYTES <= all.length) {
      const length = all.readUInt32BE(at + 5);
      if (length > MAX_FRAME) throw new Error("its container sent a frame that is too long");
      const end = at + HEADER_BYTES + length;
      if (end > all.length) break;
      this.#handle(all.readUInt8(at), all.readUInt32BE(at + 1), all.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    this.#frames = Buffer.from(all.subarray(at));
  }

  #handle(kind: number, number: number, data: Buffer): void {
    if (kind === KIND.data && number === CONTROL) {
      if (this.#isHeard) this.#control(data);
      else if (this.#early.length < 100) this.#early.push(Buffer.from(data));
      return;
    }
    const channel = this.#channels.get(number);
    if (channel === undefined) return; // closed meanwhile
    if (kind === KIND.data) channel.receive(data);
    else if (kind === KIND.taken && data.length === 4) channel.acknowledge(data.readUInt32BE(0));
    else if (kind === KIND.close) {
      this.#channels.delete(number);
      channel.end();
    } else throw new Error("its container sent a frame of an unknown kind");
  }
}

class ChannelReader implements PipeReader, Channel {
  readonly #streams: AttachedStreams;
  readonly #number: number;
  #deliver: Deliver;
  /** What came while it was paused. */
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #isOpen = true;
  #isEnded = false;
  onEnd: () => void = () => {};

  constructor(streams: AttachedStreams, number: number, deliver: Deliver) {
    this.#streams = streams;
    this.#number = number;
    this.#deliver = deliver;
    streams.add(number, this);
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

  drain(): void {
    for (const data of this.#unread.splice(0)) this.#pass(data);
    this.#unreadBytes = 0;
    if (this.#isEnded) this.#finish();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#streams.send(KIND.close, this.#number);
    this.#finish();
  }

  receive(data: Buffer): void {
    if (!this.#isPaused) return this.#pass(data);
    this.#unreadBytes += data.length;
    if (this.#unreadBytes > MAX_UNREAD) throw new Error("its container sent more than there is room for");
    this.#unread.push(Buffer.from(data));
  }

  acknowledge(): void {} // it sends nothing

  end(): void {
    this.#isEnded = true;
    if (this.#unread.length === 0) this.#finish();
  }

  #pass(data: Buffer): void {
    if (!this.#isOpen) return;
    this.#deliver(data, data.length);
    const taken = Buffer.allocUnsafe(4);
    taken.writeUInt32BE(data.length);
    if (!this.#isEnded) this.#streams.send(KIND.taken, this.#number, taken);
  }

  #finish(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#unread = [];
    this.#streams.remove(this.#number, this);
    this.onEnd();
  }
}

class ChannelWriter implements PipeWriter, Channel {
  readonly #streams: AttachedStreams;
  readonly #number: number;
  /** Sent, and not taken yet. */
  #sent = 0;
  readonly #queue: Buffer[] = [];
  #queued = 0;
  #isOpen = true;
  #hasReader = true;
  #waiting: (() => void)[] = [];

  constructor(streams: AttachedStreams, number: number) {
    this.#streams = streams;
    this.#number = number;
    streams.add(number, this);
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
    return new Promise((resolve) => this.whenTaken(resolve));
  }

  whenTaken(run: () => void): void {
    if (this.backlog === 0) run();
    else this.#waiting.push(run);
  }

  acknowledge(bytes: number): void {
    this.#sent = Math.max(0, this.#sent - bytes);
    this.#flush();
    if (this.backlog === 0) this.#release();
  }

  close(): void {
    if (!this.#isOpen) return;
    if (this.#queued > 0) this.#hasReader = false;
    this.#streams.send(KIND.close, this.#number);
    this.#finish();
  }

  receive(): void {} // nothing is read from it

  end(): void {
    this.#hasReader = false;
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
      this.#streams.send(KIND.data, this.#number, part);
    }
  }

  #finish(): void {
    this.#isOpen = false;
    this.#streams.remove(this.#number, this);
    this.#queue.length = 0;
    this.#queued = 0;
    this.#release();
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function toWritable(streams: AttachedStreams, number: number): Writable {
  const writer = new ChannelWriter(streams, number);
  return new Writable({
    write(chunk: Buffer, _, done) {
      writer.writeBytes(chunk);
      writer.whenTaken(() => done(writer.hasReader ? null : new Error("nobody reads it")));
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

function toReadable(streams: AttachedStreams, number: number): Readable {
  const reader = new ChannelReader(streams, number, (buffer, length) => {
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
