// The host's ends of a worker's pipes.
//
// The fork server makes the pipes and the host opens its ends through /proc, so they never have a name on disk; on macOS they have
// one until then. All readers
// share one buffer, because a chunk is handled before the next read. Writes go to the pipe synchronously, without a trip
// through the event loop, and fall back to a stream when the pipe is full. No pipe keeps the host alive.

import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import type { Hello } from "./fork-server-messages.ts";
import { Socket, type ConnectOpts, type SocketConstructorOpts } from "node:net";

const READ_BYTES = 64 * 1024;
/** How long full chunks are handled before other work comes first. */
const LONG_MS = 5;
/** This many characters never have more than PIPE_BUF bytes, which are written whole or not at all. */
const ATOMIC_CHARACTERS = 1024;
const shared: Buffer = Buffer.allocUnsafeSlow(READ_BYTES);
/** Draining has its own buffer: it happens while a chunk in the shared one is being handled. */
const drained: Buffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** The host's ends of the pipes of a fork server. */
export interface Pipes {
  /** Opens several, or none: throws. A sandbox may have ended, and its pipes with it. */
  open: (pipes: readonly PipeToOpen[]) => PipeEnd[];
}

/** By the number that the fork server gave it. */
export type PipeToOpen = readonly [pipe: number, direction: "read" | "write"];

/** One of them is called, once. */
export interface PipeEnd {
  /** `buffer` is used for draining. Another one is needed where one pipe is drained while a chunk of another is handled. */
  reader: (deliver: Deliver, buffer?: Buffer) => PipeReader;
  writer: () => PipeWriter;
  input: () => Writable;
  output: () => Readable;
}

export interface PipeReader {
  /** Called when the last writer has closed the pipe, or the reader was closed. */
  onEnd: () => void;
  redirect: (deliver: Deliver) => void;
  /** Stops reading until `resume`. */
  pause: () => void;
  resume: () => void;
  /** Delivers what the pipe contains, at most about `limit` bytes, without waiting. */
  drain: (limit: number) => void;
  close: () => void;
}

export interface PipeWriter {
  /** False once something was written that no process will read. */
  readonly hasReader: boolean;
  /** Bytes that wait for space in the pipe. */
  readonly backlog: number;
  write: (text: string) => void;
  /** The bytes must not change until `taken` resolves. */
  writeBytes: (data: Uint8Array) => void;
  /** Resolves when the backlog is empty or will never be read. */
  taken: () => Promise<void>;
  close: () => void;
}

/** Those of a fork server on this machine. */
export function toPipes({ pid, pipes }: Pick<Hello, "pid" | "pipes">): Pipes {
  return pipes === undefined ? new OpenablePipes((pipe) => `/proc/${pid}/fd/${pipe}`) : namedPipes(() => pipes);
}

/** Pipes with names in a folder. Nothing else is opened there, whatever the other side has put into it. */
export function namedPipes(folder: () => string): Pipes {
  return new OpenablePipes(
    (pipe) => `${folder()}/${pipe}`,
    (fd) => {
      if (!fstatSync(fd).isFIFO()) throw new Error("it is not a pipe");
    },
  );
}

class OpenablePipes implements Pipes {
  readonly #pathOf: (pipe: number) => string;
  /** Given where names can be replaced by others. */
  readonly #check: ((fd: number) => void) | undefined;

  constructor(pathOf: (pipe: number) => string, check?: (fd: number) => void) {
    this.#pathOf = pathOf;
    this.#check = check;
  }

  open(pipes: readonly PipeToOpen[]): PipeEnd[] {
    const opened: number[] = [];
    const follow = this.#check === undefined ? 0 : constants.O_NOFOLLOW;
    try {
      for (const [pipe, direction] of pipes) {
        const way = direction === "read" ? constants.O_RDONLY : constants.O_WRONLY;
        const fd = openSync(this.#pathOf(pipe), way | follow | constants.O_NONBLOCK);
        opened.push(fd);
        this.#check?.(fd);
      }
    } catch (error) {
      for (const fd of opened) closeSync(fd);
      throw error;
    }
    return opened.map((fd) => ({
      reader: (deliver, buffer) => new DescriptorReader(fd, deliver, buffer),
      writer: () => new DescriptorWriter(fd),
      input: () => new Socket({ fd, readable: false, writable: true }).unref(),
      output: () => new Socket({ fd, readable: true, writable: false }).unref(),
    }));
  }
}

/** Receives the first `length` bytes of a buffer that is valid only during the call. */
export type Deliver = (buffer: Buffer, length: number) => void;

class DescriptorReader implements PipeReader {
  readonly #fd: number;
  readonly #socket: Socket;
  #deliver: Deliver;
  readonly #drained: Buffer;
  #open = true;
  #isPaused = false;
  /** Spent on full chunks since other work came first. */
  #busyMs = 0;
  onEnd: () => void = () => {};

  constructor(fd: number, deliver: Deliver, buffer = drained) {
    this.#fd = fd;
    this.#deliver = deliver;
    this.#drained = buffer;
    const options: SocketConstructorOpts & Pick<ConnectOpts, "onread"> = {
      fd,
      readable: true,
      writable: false,
      onread: {
        buffer: shared,
        callback: (length: number) => {
          if (length < READ_BYTES) this.#deliver(shared, length);
          else this.#deliverMuch(length);
          return true;
        },
      },
    };
    this.#socket = new Socket(options).unref();
    this.#socket.on("error", () => this.close());
    this.#socket.on("close", () => {
      this.#open = false;
      this.onEnd();
    });
  }

  redirect(deliver: Deliver): void {
    this.#deliver = deliver;
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#open) this.#socket.resume();
  }

  /** Node reads a full pipe many times before it does anything else. Where that takes long, other work comes first. */
  #deliverMuch(length: number): void {
    const started = performance.now();
    this.#deliver(shared, length);
    this.#busyMs += performance.now() - started;
    if (this.#busyMs < LONG_MS || !this.#open) return;
    this.#busyMs = 0;
    this.#socket.pause();
    setImmediate(() => {
      if (this.#open && !this.#isPaused) this.#socket.resume();
    });
  }

  drain(limit: number): void {
    let total = 0;
    while (this.#open && !this.#socket.destroyed && total < limit) {
      const length = this.#readNow();
      if (length > 0) this.#deliver(this.#drained, length);
      if (length < this.#drained.length) return; // the pipe is empty
      total += length;
    }
  }

  close(): void {
    this.#open = false;
    this.#socket.destroy();
  }

  #readNow(): number {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // reading an empty pipe throws, and a stack trace would cost more than the read
    try {
      return readSync(this.#fd, this.#drained, 0, this.#drained.length, null);
    } catch {
      return 0;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

class DescriptorWriter implements PipeWriter {
  readonly #fd: number;
  #socket: Socket | undefined;
  #open = true;
  #hasReader = true;

  constructor(fd: number) {
    this.#fd = fd;
  }

  get hasReader(): boolean {
    return this.#hasReader;
  }

  write(text: string): void {
    if (this.#canWriteNow() && text.length <= ATOMIC_CHARACTERS && this.#writeAtomic(text)) return;
    this.writeBytes(Buffer.from(text, "utf8"));
  }

  writeBytes(data: Uint8Array): void {
    if (!this.#open) return;
    const written = this.#canWriteNow() ? this.#writeNow(data) : 0;
    if (written === data.length) return;
    const stream = this.#stream();
    if (stream.destroyed) this.#hasReader = false;
    else stream.write(data.subarray(written));
  }

  /** False while earlier data waits, and once the descriptor is closed, since its number can be reused. */
  #canWriteNow(): boolean {
    if (!this.#open) return false;
    return this.#socket === undefined || (!this.#socket.destroyed && this.#socket.writableLength === 0);
  }

  get backlog(): number {
    return this.#open ? (this.#socket?.writableLength ?? 0) : 0;
  }

  taken(): Promise<void> {
    const socket = this.#socket;
    if (socket?.errored) this.#hasReader = false; // the error event may come later
    if (socket === undefined || this.backlog === 0) return Promise.resolve();
    return new Promise((resolve) => {
      // The callback runs after earlier writes, or when the socket is destroyed, before its error event.
      socket.write("", (error) => {
        if (error) this.#hasReader = false;
        resolve();
      });
    });
  }

  close(): void {
    if (!this.#open) return;
    if (this.backlog > 0) this.#hasReader = false;
    this.#open = false;
    if (this.#socket === undefined) closeSync(this.#fd);
    else this.#socket.destroy();
  }

  /** Writes a short text whole or, when the pipe is full, not at all. */
  #writeAtomic(text: string): boolean {
    try {
      writeSync(this.#fd, text);
      return true;
    } catch (error) {
      return this.#isLost(error);
    }
  }

  /** Returns how much was written without waiting. Any error but a full pipe means that the worker has ended; its exit event follows. */
  #writeNow(data: Uint8Array): number {
    let written = 0;
    try {
      while (written < data.length) written += writeSync(this.#fd, data, written);
    } catch (error) {
      if (this.#isLost(error)) return data.length;
    }
    return written;
  }

  #isLost(error: unknown): boolean {
    const isLost = (error as NodeJS.ErrnoException).code !== "EAGAIN";
    if (isLost) this.#hasReader = false;
    return isLost;
  }

  #stream(): Socket {
    this.#socket ??= new Socket({ fd: this.#fd, readable: false, writable: true }).unref().on("error", () => {
      this.#hasReader = false;
    });
    return this.#socket;
  }
}
