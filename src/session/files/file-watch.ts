// Live changes in a folder of a session.
//
// For one reader, in order. While nobody reads, the kernel buffers some thousand changes and then reports `overflow`, as it does for a
// subfolder that could not be watched. It ends when the folder is gone, when the session closes, or when it is closed.

import type { FileChange } from "../../protocol/files.ts";
import type { FileAnswer, FileJob } from "./file-job.ts";

export class FileWatch implements AsyncIterable<FileChange>, AsyncDisposable {
  readonly #job: FileJob;
  readonly #toError: (last: FileAnswer | undefined) => Error | undefined;
  readonly #onClose: () => void;
  #isClosed = false;
  /** Resolves when watching has started; rejects if the folder cannot be watched. */
  readonly ready: Promise<void>;

  /** `toError` explains why the job ended; undefined if the session was closed. */
  constructor(job: FileJob, toError: (last: FileAnswer | undefined) => Error | undefined, onClose: () => void) {
    this.#job = job;
    this.#toError = toError;
    this.#onClose = onClose;
    this.ready = this.#begin();
  }

  /** Can be iterated once; leaving the loop closes it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<FileChange, void, undefined> {
    try {
      for (;;) {
        const answer = await this.#job.nextUnlimited();
        if (this.#isClosed || answer?.type === "done") return;
        if (answer?.type !== "change") return this.#fail(answer);
        yield answer.change;
      }
    } finally {
      await this.close();
    }
  }

  /** Stops watching. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#job.close();
    await this.#job.whenEnded();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #begin(): Promise<void> {
    const answer = await this.#job.next();
    if (answer?.type === "ready") return;
    this.#job.close();
    this.#fail(answer);
  }

  #fail(last: FileAnswer | undefined): void {
    const error = this.#toError(last);
    if (error !== undefined) throw error;
  }
}
