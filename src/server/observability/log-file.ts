// A log file. It survives a full disk: a failed write reports its error, and the next one tries again.

import { write } from "node:fs";
import { promisify } from "node:util";
import type { LogSink } from "./log-writer.ts";

export interface LogFileOptions {
  /** Called once when writing begins to fail, and again after it has recovered and fails anew. */
  readonly onFail: (error: Error) => void;
  /** Resolves with the number of bytes written. Default: writes to the descriptor. */
  readonly append?: (bytes: Buffer) => Promise<number>;
}

interface PendingWrite {
  readonly bytes: Buffer;
  readonly done: (error?: Error) => void;
}

export class LogFile implements LogSink {
  readonly writable = true;
  readonly #append: (bytes: Buffer) => Promise<number>;
  readonly #onFail: (error: Error) => void;
  readonly #queue: PendingWrite[] = [];
  /** The rest of a partial write: it is written before anything else, so that no line is torn. */
  #rest: Buffer = Buffer.alloc(0);
  #queuedBytes = 0;
  #isWriting = false;
  #hasFailed = false;

  constructor(fd: number, { onFail, append }: LogFileOptions) {
    this.#onFail = onFail;
    this.#append = append ?? (async (bytes) => (await promisify(write)(fd, bytes)).bytesWritten);
  }

  get writableLength(): number {
    return this.#queuedBytes;
  }

  write(text: string, done: (error?: Error) => void): void {
    const bytes = Buffer.from(text);
    this.#queue.push({ bytes, done });
    this.#queuedBytes += bytes.length;
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const error = await this.#writeOne(next.bytes);
      this.#queuedBytes -= next.bytes.length;
      next.done(error);
    }
    this.#isWriting = false;
  }

  /** Returns the error when nothing was written; a partial write is finished later. */
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
