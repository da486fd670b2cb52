// Files of this server for what is too large for memory, between a client and a session: neither waits for the other then, and a
// client that is slow or gone leaves the session alone.
//
// Such a file has no name, so that nothing stays behind whatever dies.

import { closeSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { openAnonymousFile } from "../../../util/bytes/anonymous-file.ts";
import { ProblemError, type Problem } from "../problem.ts";

/** What a client sent, or is to be sent. */
export interface Held extends AsyncDisposable {
  /** Opens the file, for as long as it is held. */
  readonly path: string;
  readonly sizeBytes: number;
  /** From the first byte to the last. */
  pieces(): AsyncIterable<Uint8Array>;
}

const MAX_FILES = 8;
const PIECE_BYTES = 256 * 1024;

export class Spool {
  readonly #maxFiles: number;
  #files = 0;

  constructor(maxFiles = MAX_FILES) {
    this.#maxFiles = maxFiles;
  }

  /** How many are held now. */
  get files(): number {
    return this.#files;
  }

  /** Throws a ProblemError where there is more, or no room; or what the content throws. */
  receive(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Held> {
    return this.#hold((file) => writeAll(file, content, maxBytes));
  }

  /** `make` writes to the file at the path that it is given. */
  make(make: (path: string) => Promise<unknown>): Promise<Held> {
    return this.#hold((file) => make(toPath(file)));
  }

  async #hold(fill: (file: FileHandle) => Promise<unknown>): Promise<Held> {
    if (this.#files >= this.#maxFiles) throw new ProblemError(tooMany(this.#maxFiles));
    this.#files += 1;
    let file: FileHandle | undefined;
    try {
      file = await openNameless();
      await fill(file);
      return toHeld(file, (await file.stat()).size, () => void (this.#files -= 1));
    } catch (error) {
      this.#files -= 1;
      await file?.close();
      throw error;
    }
  }
}

async function openNameless(): Promise<FileHandle> {
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

function toHeld(file: FileHandle, sizeBytes: number, onClose: () => void): Held {
  let isOpen = true;
  return {
    path: toPath(file),
    sizeBytes,
    pieces: () => readAll(file),
    [Symbol.asyncDispose]: async () => {
      if (!isOpen) return;
      isOpen = false;
      onClose();
      await file.close();
    },
  };
}

/** Each piece is a new one: whoever takes it may keep it. */
async function* readAll(file: FileHandle): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(PIECE_BYTES), 0, PIECE_BYTES, at);
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
      throw error.code === "ENOSPC" || error.code === "EDQUOT" ? new ProblemError(NO_ROOM) : error;
    });
  }
}

const NO_ROOM: Problem = { status: 507, code: "NO_ROOM", detail: "The server has no room for the body" };

function tooLarge(maxBytes: number): Problem {
  return { status: 413, code: "BODY_TOO_LARGE", detail: `The body is larger than ${maxBytes / 1024 / 1024} MiB` };
}

function tooMany(maxFiles: number): Problem {
  const detail = `${maxFiles} large bodies or session files are under way already`;
  return { status: 429, code: "TOO_MANY_TRANSFERS", detail, headers: { "retry-after": "1" } };
}
