// Anonymous temporary files, reused, with one limit on the space of all of them.
//
// Writing to a new file takes several times as long as overwriting old pages, so a few files are kept for reuse. A file is never read past
// what its current user has written.
//
// Where the limit is reached or the disk is full, space is freed in small steps: that of unused files first, then that of the output that
// ended longest ago. Where nothing can be freed, less is written than was asked for.

import { close, closeSync, ftruncate, ftruncateSync, readSync, writeSync } from "node:fs";
import { openAnonymousFile } from "../util/bytes/anonymous-file.ts";

const MAX_SPARE = 2;
const MAX_SPARE_BYTES = 128 * 1024 * 1024;
/** Freed at once. Freeing more takes long. */
const STEP_BYTES = 4 * 1024 * 1024;
const DISK_FULL: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT"]);

/** Output that has ended, and can do with less space. */
interface Shrinkable {
  /** Frees about as many bytes. False: it has no file any more. */
  shrink(bytes: number): boolean;
}

export interface SpillOptions {
  /** Of all files together. Default: no limit. */
  readonly maxBytes?: number;
  readonly write?: typeof writeSync;
}

/** A file and the space that it takes. */
interface Space {
  readonly fd: number;
  bytes: number;
}

/** The files of one runtime. */
export class SpillFiles {
  readonly write: typeof writeSync;
  readonly #maxBytes: number;
  readonly #spare: Space[] = [];
  readonly #open = new Set<SpillFile>();
  /** In the order in which they ended. */
  readonly #finished = new Set<Shrinkable>();
  #used = 0;
  #closed = false;

  constructor({ maxBytes = Infinity, write = writeSync }: SpillOptions = {}) {
    this.#maxBytes = maxBytes;
    this.write = write;
  }

  /** The space that all files take. */
  get usedBytes(): number {
    return this.#used;
  }

  /** Undefined: none can be created. */
  open(): SpillFile | undefined {
    const space = this.#spare.pop() ?? openSpace();
    if (space === undefined) return undefined;
    const file = new SpillFile(this, space);
    this.#open.add(file);
    return file;
  }

  /** This output has ended, and is the last to be shrunk. */
  addFinished(output: Shrinkable): void {
    this.#finished.add(output);
  }

  removeFinished(output: Shrinkable): void {
    this.#finished.delete(output);
  }

  /** Lets a file grow. Returns the size that it may have, which is less where the limit is reached. */
  reserve(space: Space, size: number): number {
    const missing = size - space.bytes;
    if (missing <= 0) return size;
    while (this.#used + missing > this.#maxBytes && this.free());
    this.resize(space, space.bytes + Math.max(0, Math.min(missing, this.#maxBytes - this.#used)));
    return space.bytes;
  }

  /** Corrects how much space a file takes. */
  resize(space: Space, bytes: number): void {
    this.#used += bytes - space.bytes;
    space.bytes = bytes;
  }

  /** Frees some space. False: there is none to free. */
  free(): boolean {
    const spare = this.#spare.at(-1);
    if (spare !== undefined) {
      if (spare.bytes > STEP_BYTES) this.truncate(spare, spare.bytes - STEP_BYTES);
      else this.#discard(this.#spare.pop() ?? spare);
      return true;
    }
    for (const file of this.#open) if (file.trim()) return true;
    const [oldest] = this.#finished;
    if (oldest === undefined) return false;
    if (!oldest.shrink(STEP_BYTES)) this.#finished.delete(oldest);
    return true;
  }

  truncate(space: Space, bytes: number): void {
    ftruncateSync(space.fd, bytes);
    this.resize(space, bytes);
  }

  /** Nobody uses the file any more. Asynchronous, because freeing pages takes long. */
  release(file: SpillFile, space: Space): void {
    this.#open.delete(file);
    if (this.#closed || this.#spare.length >= MAX_SPARE) {
      this.#discard(space);
    } else if (space.bytes <= MAX_SPARE_BYTES) {
      this.#spare.push(space);
    } else {
      this.resize(space, MAX_SPARE_BYTES);
      ftruncate(space.fd, MAX_SPARE_BYTES, () => {
        if (this.#closed) this.#discard(space);
        else this.#spare.push(space);
      });
    }
  }

  close(): void {
    this.#closed = true;
    for (const { fd } of this.#spare.splice(0)) closeSync(fd);
  }

  #discard(space: Space): void {
    this.resize(space, 0);
    close(space.fd, () => {});
  }
}

export class SpillFile {
  readonly #files: SpillFiles;
  readonly #space: Space;
  #length = 0;
  #open = true;

  /** Use `SpillFiles.open`. */
  constructor(files: SpillFiles, space: Space) {
    this.#files = files;
    this.#space = space;
  }

  get length(): number {
    return this.#length;
  }

  /** How many bytes were written: not all where the limit is reached or the disk is full. */
  append(data: Buffer): number {
    const allowed = this.#files.reserve(this.#space, this.#length + data.length) - this.#length;
    const written = this.#write(data.subarray(0, allowed));
    if (written < allowed) this.#files.resize(this.#space, this.#length);
    return written;
  }

  /** Never reads past the end, where data of an earlier user may be. */
  read(offset: number, length: number): Buffer {
    const end = Math.min(offset + length, this.#length);
    const buffer = Buffer.allocUnsafe(Math.max(0, end - offset));
    return buffer.subarray(0, readSync(this.#space.fd, buffer, 0, buffer.length, offset));
  }

  /** Drops what comes after the first `length` bytes, and frees its space. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
    this.#files.truncate(this.#space, this.#length);
  }

  /** Frees space that an earlier user has left. False: there is none. */
  trim(): boolean {
    if (this.#space.bytes <= this.#length) return false;
    this.#files.truncate(this.#space, this.#length);
    return true;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#files.release(this, this.#space);
  }

  #write(data: Buffer): number {
    let written = 0;
    while (written < data.length) {
      try {
        const length = this.#files.write(this.#space.fd, data, written, data.length - written, this.#length);
        written += length;
        this.#length += length; // before space is freed, which may cut this file to its length
      } catch (error) {
        const isFull = DISK_FULL.has((error as NodeJS.ErrnoException).code);
        if (!isFull || !this.#files.free()) return written; // the caller sees how much was written
      }
    }
    return written;
  }
}

function openSpace(): Space | undefined {
  try {
    return { fd: openAnonymousFile(), bytes: 0 };
  } catch {
    return undefined;
  }
}
