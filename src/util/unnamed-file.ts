// A temporary file that nobody else can open and that cannot be left behind: it has no name any more when it is first used.

import { closeSync, constants, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
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
    for (const open of [openNameless, openAndUnlink]) {
      try {
        return new UnnamedFile(open());
      } catch {
        // The next way, or none.
      }
    }
    return undefined;
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

const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

/** The kernel makes the file without a name; not every file system can. */
function openNameless(): number {
  return openSync(tmpdir(), O_TMPFILE | constants.O_RDWR, 0o600);
}

function openAndUnlink(): number {
  const folder = mkdtempSync(join(tmpdir(), "rlm-"));
  const path = join(folder, "file");
  try {
    const fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    return fd;
  } finally {
    rmdirSync(folder);
  }
}
