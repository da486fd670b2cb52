// Temporary files for transfers between clients and sessions that are too large for memory. Neither side waits for the other, and a slow
// or vanished client does not affect the session.
//
// The files are anonymous: a crash leaves nothing behind.

import { closeSync, writeSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { openAnonymousFile, openAnonymousHandle } from "../../../util/bytes/anonymous-file.ts";
import { ProblemError, type Problem } from "../problem.ts";
import { tooLarge } from "./body.ts";

export interface SpooledFile extends AsyncDisposable {
  /** Valid until the file is disposed. */
  readonly path: string;
  readonly sizeBytes: number;
  chunks(): AsyncIterable<Uint8Array>;
}

const MAX_FILES = 8;
const CHUNK_BYTES = 256 * 1024;

export class Spool {
  readonly #maxFiles: number;
  #files = 0;

  constructor(maxFiles = MAX_FILES) {
    this.#maxFiles = maxFiles;
  }

  get files(): number {
    return this.#files;
  }

  /** Throws a ProblemError when the content is larger or the disk is full, and whatever the content throws. */
  receive(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<SpooledFile> {
    return this.#open((file) => writeAll(file, content, maxBytes));
  }

  /** `write` writes to the file at the given path. */
  create(write: (path: string) => Promise<unknown>): Promise<SpooledFile> {
    return this.#open((file) => write(toPath(file)));
  }

  /** For bytes that arrive in pieces that must be taken at once: few are kept in memory, more in a file. */
  collect(): Collected {
    return new Collected(() => {
      if (this.#files >= this.#maxFiles) throw new ProblemError(TOO_MANY);
      this.#files += 1;
      return () => void (this.#files -= 1);
    });
  }

  async #open(fill: (file: FileHandle) => Promise<unknown>): Promise<SpooledFile> {
    if (this.#files >= this.#maxFiles) throw new ProblemError(TOO_MANY);
    this.#files += 1;
    let file: FileHandle | undefined;
    try {
      file = await openAnonymousHandle();
      await fill(file);
      return toSpooled(file, (await file.stat()).size, () => void (this.#files -= 1));
    } catch (error) {
      this.#files -= 1;
      await file?.close();
      throw error;
    }
  }
}

const IN_MEMORY_BYTES = 256 * 1024;

/** Dispose it, however it ends. */
export class Collected implements Disposable {
  readonly #claim: () => () => void;
  #pieces: Buffer[] = [];
  #size = 0;
  #file: { readonly fd: number; readonly release: () => void } | undefined;
  #isOver = false;

  /** `claim`: may a file be used? It returns what gives it back. */
  constructor(claim: () => () => void) {
    this.#claim = claim;
  }

  get sizeBytes(): number {
    return this.#size;
  }

  /** Copies the piece. Throws a ProblemError when there is no room. */
  write(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#file === undefined && this.#size <= IN_MEMORY_BYTES) {
      this.#pieces.push(Buffer.from(piece));
      return;
    }
    this.#file ??= { release: this.#claim(), fd: openAnonymousFile() };
    for (const one of [...this.#pieces.splice(0), piece]) this.#writeAll(this.#file.fd, one);
  }

  /** Everything, once it is complete. */
  async *chunks(): AsyncGenerator<Uint8Array, void> {
    if (this.#file === undefined) {
      yield* this.#pieces;
      return;
    }
    const file = await open(`/proc/self/fd/${this.#file.fd}`, "r");
    try {
      yield* readAll(file);
    } finally {
      await file.close();
    }
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pieces = [];
    if (this.#file === undefined) return;
    closeSync(this.#file.fd);
    this.#file.release();
  }

  #writeAll(fd: number, piece: Buffer): void {
    try {
      for (let at = 0; at < piece.length;) at += writeSync(fd, piece, at);
    } catch (error) {
      throw toProblemError(error as NodeJS.ErrnoException);
    }
  }
}

function toPath({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

function toSpooled(file: FileHandle, sizeBytes: number, onClose: () => void): SpooledFile {
  let isOpen = true;
  return {
    path: toPath(file),
    sizeBytes,
    chunks: () => readAll(file),
    [Symbol.asyncDispose]: async () => {
      if (!isOpen) return;
      isOpen = false;
      onClose();
      await file.close();
    },
  };
}

/** Yields a new buffer each time, which the caller may keep. */
async function* readAll(file: FileHandle): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function writeAll(file: FileHandle, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  let total = 0;
  for await (const chunk of content) {
    total += chunk.length;
    if (total > maxBytes) throw new ProblemError(tooLarge(maxBytes));
    await file.writeFile(chunk).catch((error: NodeJS.ErrnoException) => {
      throw toProblemError(error);
    });
  }
}

function toProblemError(error: NodeJS.ErrnoException): Error {
  return error.code === "ENOSPC" || error.code === "EDQUOT" ? new ProblemError(DISK_FULL) : error;
}

const DISK_FULL: Problem = { status: 507, code: "NO_ROOM", detail: "The server has no room for the body" };
const TOO_MANY: Problem = {
  status: 429,
  code: "TOO_MANY_TRANSFERS",
  detail: "Too many large bodies or session files are under way already",
  headers: { "retry-after": "1" },
};
