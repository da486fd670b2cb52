// Temporary files for transfers between clients and sessions that are too large for memory. Neither side waits for the other, and a slow
// or vanished client does not affect the session.
//
// The files are anonymous: a crash leaves nothing behind.

import { closeSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { openAnonymousFile } from "../../../util/bytes/anonymous-file.ts";
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
  #files = 0;

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

  async #open(fill: (file: FileHandle) => Promise<unknown>): Promise<SpooledFile> {
    if (this.#files >= MAX_FILES) throw new ProblemError(TOO_MANY);
    this.#files += 1;
    let file: FileHandle | undefined;
    try {
      file = await openAnonymous();
      await fill(file);
      return toSpooled(file, (await file.stat()).size, () => void (this.#files -= 1));
    } catch (error) {
      this.#files -= 1;
      await file?.close();
      throw error;
    }
  }
}

async function openAnonymous(): Promise<FileHandle> {
  const fd = openAnonymousFile();
  try {
    return await open(`/proc/self/fd/${fd}`, "r+");
  } finally {
    closeSync(fd);
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
      throw error.code === "ENOSPC" || error.code === "EDQUOT" ? new ProblemError(DISK_FULL) : error;
    });
  }
}

const DISK_FULL: Problem = { status: 507, code: "NO_ROOM", detail: "The server has no room for the body" };
const TOO_MANY: Problem = {
  status: 429,
  code: "TOO_MANY_TRANSFERS",
  detail: `${MAX_FILES} large bodies or session files are under way already`,
  headers: { "retry-after": "1" },
};
