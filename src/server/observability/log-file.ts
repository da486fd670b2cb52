// The file of a log. A full disk does not end it: what cannot be written is given back as an error, and the next line is tried again.

import { write } from "node:fs";
import { promisify } from "node:util";
import type { LogSink } from "./log-writer.ts";

export interface LogFileOptions {
  /** Called when it cannot be written any more, once until it can be again. */
  readonly onFail: (error: Error) => void;
  /** How many bytes were written. Default: to the descriptor. */
  readonly append?: (bytes: Buffer) => Promise<number>;
}

interface Waiting {
  readonly bytes: Buffer;
  readonly done: (error?: Error) => void;
}

export class LogFile implements LogSink {
  readonly writable = true;
  readonly #append: (bytes: Buffer) => Promise<number>;
  readonly #onFail: (error: Error) => void;
  readonly #waiting: Waiting[] = [];
  /** Of what was written in part: nothing else comes before it, so that no line is torn. */
  #rest: Buffer = Buffer.alloc(0);
  #waitingBytes = 0;
  #isWriting = false;
  #hasFailed = false;

  constructor(fd: number, { onFail, append }: LogFileOptions) {
    this.#onFail = onFail;
    this.#append = append ?? (async (bytes) => (await promisify(write)(fd, bytes)).bytesWritten);
  }

  get writableLength(): number {
    return this.#waitingBytes;
  }

  write(text: string, done: (error?: Error) => void): void {
    const bytes = Buffer.from(text);
    this.#waiting.push({ bytes, done });
    this.#waitingBytes += bytes.length;
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const error = await this.#writeOne(next.bytes);
      this.#waitingBytes -= next.bytes.length;
      next.done(error);
    }
    this.#isWriting = false;
  }

  /** The error where nothing of it was written; what was begun is ended later. */
  async #writeOne(bytes: Buffer): Promise<Error | undefined> {
    let isBegun = false;
    try {
      await this.#finish();
      this.#rest = bytes;
      isBegun = true;
      await this.#finish();
      if (bytes.length > 0) this.#hasFailed = false;
      return undefined;
    } catch (error) {
      if (!this.#hasFailed) this.#onFail(error as Error);
      this.#hasFailed = true;
      if (isBegun && this.#rest.length < bytes.length) return undefined;
      if (isBegun) this.#rest = Buffer.alloc(0);
      return error as Error;
    }
  }

  async #finish(): Promise<void> {
    while (this.#rest.length > 0) this.#rest = this.#rest.subarray(await this.#append(this.#rest));
  }
}
