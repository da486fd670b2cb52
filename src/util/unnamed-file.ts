// A temporary file that nobody else can open and that cannot be left behind: it has no name any more when it is first used.

import { closeSync, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class UnnamedFile {
  readonly #fd: number;
  #length = 0;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Undefined where no temporary file can be made. */
  static open(): UnnamedFile | undefined {
    try {
      const folder = mkdtempSync(join(tmpdir(), "rlm-"));
      const path = join(folder, "file");
      try {
        const fd = openSync(path, "wx+", 0o600);
        unlinkSync(path);
        return new UnnamedFile(fd);
      } finally {
        rmdirSync(folder);
      }
    } catch {
      return undefined;
    }
  }

  get length(): number {
    return this.#length;
  }

  /** How many bytes were written: fewer than given when the disk is full. */
  append(data: Buffer): number {
    let written = 0;
    try {
      while (written < data.length) {
        written += writeSync(this.#fd, data, written, data.length - written, this.#length + written);
      }
    } catch {
      // Full: the caller sees how far it went.
    }
    this.#length += written;
    return written;
  }

  read(offset: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, readSync(this.#fd, buffer, 0, length, offset));
  }

  close(): void {
    closeSync(this.#fd);
  }
}
