// Bytes from a worker in an anonymous file, so that their size takes no memory of the host and a crash leaves nothing behind.
//
// All files of one worker together have limits, and one takes at most half of the free space: a worker may claim to have anything.

import { closeSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { openAnonymousFile } from "../../util/bytes/anonymous-file.ts";
import { freeBytes } from "../../util/bytes/free-bytes.ts";
import { formatSize } from "../../util/text/format.ts";

/** Each takes a descriptor of this process. */
const MAX_FILES = 128;

export class SpoolSpace {
  readonly maxBytes: number;
  #used = 0;
  #files = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Throws where there are too many. */
  takeFile(): void {
    if (this.#files >= MAX_FILES) throw new Error(`more than ${MAX_FILES} values are being sent`);
    this.#files += 1;
  }

  releaseFile(): void {
    this.#files -= 1;
  }

  /** Throws where fewer bytes are left. */
  take(bytes: number): void {
    if (this.#used + bytes > this.maxBytes) {
      throw new Error(`values that are being sent take more than ${formatSize(this.maxBytes)} together`);
    }
    this.#used += bytes;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

export class SpooledBytes implements Disposable {
  readonly #fd: number;
  readonly #space: SpoolSpace;
  /** Infinity: it is not known how much is free. */
  readonly #maxBytes = freeBytes(tmpdir()) / 2 || Infinity;
  #size = 0;
  #isOpen = true;

  private constructor(fd: number, space: SpoolSpace) {
    this.#fd = fd;
    this.#space = space;
  }

  /** Empty. Throws the system's error, and where there are too many. */
  static open(space: SpoolSpace): SpooledBytes {
    space.takeFile();
    try {
      return new SpooledBytes(openAnonymousFile(), space);
    } catch (error) {
      space.releaseFile();
      throw error;
    }
  }

  /** Until it is disposed. */
  get path(): string {
    return `/proc/self/fd/${this.#fd}`;
  }

  get sizeBytes(): number {
    return this.#size;
  }

  /** Throws the system's error, and where too much space is taken. */
  append(piece: Uint8Array): void {
    if (this.#size + piece.length > this.#maxBytes) throw new Error("the host does not have enough free space for it");
    this.#space.take(piece.length);
    const start = this.#size;
    this.#size += piece.length; // also where writing fails: so much is released
    for (let at = 0; at < piece.length;) at += writeSync(this.#fd, piece, at, piece.length - at, start + at);
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#fd);
    this.#space.release(this.#size);
    this.#space.releaseFile();
  }
}
