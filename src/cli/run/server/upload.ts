// The context of a run on a server, streamed from the files of this machine.
//
// A large file is open only while it is read; small files are read ahead, several at once. It can be read again where a request is repeated.

import { open } from "node:fs/promises";
import type { ContextValue } from "../../../api/run.ts";
import type { BlobLike, ReadableStreamLike } from "../../../api/web-types.ts";
import { describeReadProblem } from "../../../util/files/file-problem.ts";
import { readFile } from "../../../util/files/read-file.ts";
import { formatSize } from "../../../util/text/format.ts";
import { UsageError } from "../../options/usage-error.ts";
import type { FoundContext } from "../context/contexts.ts";

const CHUNK_BYTES = 256 * 1024;
/** A larger file is not read ahead. */
const SMALL_BYTES = 64 * 1024;
const READ_AHEAD = 32;

export class Upload {
  readonly context: ContextValue;
  readonly #files: readonly UploadFile[];

  constructor(found: FoundContext) {
    if ("file" in found) {
      const file = new UploadFile(found.file, found.size);
      this.#files = [file];
      this.context = { text: file, as: found.as };
      return;
    }
    const files = found.files.map(({ path, size, content }) => new UploadFile(path, size, content));
    for (const [index, file] of files.entries()) file.followers = () => files.slice(index + 1, index + 1 + READ_AHEAD);
    this.#files = files;
    const named = found.files.map(({ name }, index) => ({ name, content: files[index] as UploadFile }));
    this.context = { files: named, folder: found.folder };
  }

  get totalBytes(): number {
    return this.#files.reduce((sum, { size }) => sum + size, 0);
  }

  get sentBytes(): number {
    return this.#files.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  }
}

/** How much is sent. A file may have grown since its size was read. */
export function describeUpload({ totalBytes, sentBytes }: Pick<Upload, "totalBytes" | "sentBytes">): string {
  if (sentBytes >= totalBytes) return `sent the context (${formatSize(sentBytes)}), waiting for the run`;
  const percent = Math.floor((100 * sentBytes) / totalBytes);
  return `sending the context: ${formatSize(sentBytes)} of ${formatSize(totalBytes)} (${percent} %)`;
}

class UploadFile implements BlobLike {
  readonly size: number;
  sentBytes = 0;
  /** Those that will be read next. */
  followers: () => readonly UploadFile[] = () => [];
  readonly #path: string;
  readonly #content: Buffer | undefined;
  #ahead: Promise<Buffer> | undefined;

  /** `content`: what was read already. */
  constructor(path: string, size: number, content?: Buffer) {
    this.#path = path;
    this.size = size;
    this.#content = content;
  }

  /** Not a stream of the platform, which takes several times as long for a small file as reading it. */
  stream(): ReadableStreamLike {
    this.sentBytes = 0;
    const pieces = this.#read();
    const read = async (): Promise<{ done: boolean; value?: Uint8Array }> => {
      const { done, value } = await pieces.next();
      return done === true ? { done } : { done: false, value };
    };
    return { getReader: () => ({ read, cancel: async () => void (await pieces.return()), releaseLock: () => {} }) };
  }

  /** Begins to read it, if it is small. */
  readAhead(): void {
    if (this.size > SMALL_BYTES || this.#ahead !== undefined) return;
    this.#ahead = this.#content ? Promise.resolve(this.#content) : readFile(this.#path, this.size, 2 * SMALL_BYTES);
    this.#ahead.catch(() => {}); // it is reported in its turn
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    this.readAhead();
    for (const file of this.followers()) file.readAhead();
    try {
      if (this.#ahead === undefined) yield* this.#readLarge();
      else yield this.#count(await this.#ahead);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`cannot read '${this.#path}': ${describeReadProblem(error)}`);
    } finally {
      this.#ahead = undefined;
    }
    if (this.sentBytes !== this.size) throw new UsageError(`cannot send '${this.#path}': it changed meanwhile`);
  }

  async *#readLarge(): AsyncGenerator<Uint8Array, void, undefined> {
    await using file = await open(this.#path);
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      yield this.#count(buffer.subarray(0, bytesRead));
    }
  }

  #count(bytes: Buffer): Buffer {
    this.sentBytes += bytes.length;
    return bytes;
  }
}
