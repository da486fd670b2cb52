// The link to a container whose engine shares no folder with this machine: everything goes over its attached streams, in frames
// (python/forkserver/container/relay.py has the other side, and says what a frame is). All that arrives is hostile until parsed, and has a bound.

import type { Socket } from "node:net";
import type { PipeEnd, Pipes, PipeToOpen } from "../../local/pipes.ts";
import type { ServerEnd, ServerLink } from "../../local/fork-server.ts";
import {
  type Channel,
  ChannelReader,
  ChannelWriter,
  KIND,
  MAX_FRAME,
  MAX_UNREAD,
  type Multiplexer,
  toBytes,
  toReadable,
  toWritable,
} from "./channels.ts";
import { parseEvent, parseFirst } from "./events.ts";

const HEADER_BYTES = 9;
/** Size of the engine's header: which stream, and how much. */
const ENGINE_HEADER_BYTES = 8;
const MAX_CHANNELS = 10_000;
const MAX_ERRORS = 4096;
const CONTROL = 0;

export function attachedLink(socket: Socket, whyEnded: Promise<string>, kill: () => void): ServerLink {
  const multiplexer = new AttachedMultiplexer(socket);
  const ended = multiplexer.ended.then(async (why): Promise<ServerEnd> => {
    const reason = why ?? (await Promise.race([whyEnded, soon("its container ended")]));
    return { why: reason, facts: {} };
  });
  return {
    pipes: () => multiplexer,
    ended,
    onData: (deliver) => multiplexer.onControl(deliver),
    write: (line) => multiplexer.send(KIND.data, CONTROL, Buffer.from(line)),
    end: () => multiplexer.send(KIND.close, CONTROL),
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

class AttachedMultiplexer implements Pipes, Multiplexer {
  readonly #socket: Socket;
  readonly #channels = new Map<number, Channel>();
  #lastChannel = CONTROL;
  /** Those with something to handle at the end of the batch. */
  readonly #received = new Set<Channel>();
  readonly #events: Buffer[] = [];
  #eventBytes = 0;
  #control: ((chunk: Buffer) => void) | undefined;
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
        const open = [...this.#channels.values()];
        this.#channels.clear();
        for (const channel of open) channel.end();
        resolve(fault ?? (this.#errors.trim().split("\n").at(-1) || undefined));
      });
      socket.once("end", () => socket.destroy());
    });
  }

  onControl(deliver: (chunk: Buffer) => void): void {
    this.#control = deliver;
    this.#handleEvents();
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
      const kind = direction === "write" ? KIND.openWriter : isOrdered ? KIND.openOrdered : KIND.openReader;
      this.#lastChannel += 1;
      const number = this.#lastChannel;
      this.send(kind, number, toBytes(pipe));
      return {
        reader: (deliver) => new ChannelReader(this, number, deliver),
        writer: () => new ChannelWriter(this, number),
        input: () => toWritable(this, number),
        output: () => toReadable(this, number),
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
    if (kind === KIND.batchEnd) return this.#handleBatch();
    if (kind === KIND.data && number === CONTROL) {
      this.#eventBytes += data.length;
      if (this.#eventBytes > MAX_UNREAD) throw new Error("its container sent more than there is room for");
      this.#events.push(Buffer.from(data));
      return;
    }
    const channel = this.#channels.get(number);
    if (channel === undefined) return; // closed meanwhile
    if (kind === KIND.data) {
      channel.receive(Buffer.from(data));
      this.#received.add(channel);
    } else if (kind === KIND.ack && data.length === 4) channel.acknowledge(data.readUInt32BE(0));
    else if (kind === KIND.close) {
      this.#channels.delete(number);
      channel.end();
    } else throw new Error("its container sent a frame of an unknown kind");
  }

  #handleBatch(): void {
    const channels = [...this.#received];
    this.#received.clear();
    for (const channel of channels) channel.handle();
    this.#handleEvents();
  }

  #handleEvents(): void {
    if (this.#control === undefined) return;
    this.#eventBytes = 0;
    for (const data of this.#events.splice(0)) this.#control(data);
  }
}
