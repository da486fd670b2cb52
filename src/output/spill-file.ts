// Anonymous temporary files, reused.
//
// Writing to a new file takes several times as long as overwriting old pages, so a few files are kept for reuse. A file is never read past
// what its current user has written.

import { close, closeSync, ftruncate, readSync, writeSync } from "node:fs";
import { openAnonymousFile } from "../util/bytes/anonymous-file.ts";

const MAX_SPARE = 2;
const MAX_SPARE_BYTES = 128 * 1024 * 1024;

/** The spare files of one runtime. */
export class SpillFiles {
  readonly #spare: number[] = [];
  #closed = false;

  /** Undefined: none can be created. */
  open(): SpillFile | undefined {
    const fd = this.#spare.pop() ?? openFile();
    return fd === undefined ? undefined : new SpillFile(fd, (written) => this.#release(fd, written));
  }

  close(): void {
    this.#closed = true;
    for (const fd of this.#spare.splice(0)) closeSync(fd);
  }

  /** Asynchronous, because freeing pages takes long. */
  #release(fd: number, written: number): void {
    if (this.#closed || this.#spare.length >= MAX_SPARE) {
      close(fd, () => {});
      return;
    }
    this.#spare.push(fd);
    if (written > MAX_SPARE_BYTES) ftruncate(fd, MAX_SPARE_BYTES, () => {});
  }
}

export class SpillFile {
  readonly #fd: number;
  readonly #onClose: (written: number) => void;
  #length = 0;
  #open = true;

  /** Use `SpillFiles.open`. */
  constructor(fd: number, onClose: (written: number) => void) {
    this.#fd = fd;
    this.#onClose = onClose;
  }

  get length(): number {
    return this.#length;
  }

  /** How many bytes were written: not all when the disk is full. */
  append(data: Buffer): number {
    let written = 0;
    try {
      while (written < data.length) {
        written += writeSync(this.#fd, data, written, data.length - written, this.#length + written);
      }
    } catch {
      // The disk is full: the caller sees how much was written.
    }
    this.#length += written;
    return written;
  }

  /** Never reads past the end, where data of an earlier user may be. */
  read(offset: number, length: number): Buffer {
    const end = Math.min(offset + length, this.#length);
    const buffer = Buffer.allocUnsafe(Math.max(0, end - offset));
    return buffer.subarray(0, readSync(this.#fd, buffer, 0, buffer.length, offset));
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#onClose(this.#length);
  }
}

function openFile(): number | undefined {
  try {
    return openAnonymousFile();
  } catch {
    return undefined;
  }
}
