// The context of a run on a server, streamed from the files of this machine.
//
// A file is open only while it is read, and nothing of it is stored. It can be read again where a request is repeated.

import { open } from "node:fs/promises";
import type { ContextValue } from "../../../api/run.ts";
import type { BlobLike, ReadableStreamLike } from "../../../api/web-types.ts";
import { UsageError } from "../../options/usage-error.ts";
import type { FoundContext } from "../context/contexts.ts";

const CHUNK_BYTES = 256 * 1024;
/** What a server takes. */
const MAX_FILES = 1000;

export class Upload {
  readonly context: ContextValue;
  readonly #files: readonly UploadFile[];

  /** Throws a UsageError for too many files, and where a file is gone. */
  static open(found: FoundContext): Upload {
    if ("file" in found) {
      const file = new UploadFile(found.file, found.size);
      return new Upload({ text: file, as: found.as }, [file]);
    }
    const { length: count } = found.files;
    if (count > MAX_FILES)
      throw new UsageError(`cannot send more than ${MAX_FILES} files to a server: there are ${count}`);
    const files = found.files.map(({ name, path, size }) => ({ name, content: new UploadFile(path, size) }));
    return new Upload(
      { files },
      files.map(({ content }) => content),
    );
  }

  private constructor(context: ContextValue, files: readonly UploadFile[]) {
    this.context = context;
    this.#files = files;
  }

  get totalBytes(): number {
    return this.#files.reduce((sum, { size }) => sum + size, 0);
  }

  get sentBytes(): number {
    return this.#files.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  }
}

class UploadFile implements BlobLike {
  readonly size: number;
  sentBytes = 0;
  readonly #path: string;

  constructor(path: string, size: number) {
    this.size = size;
    this.#path = path;
  }

  stream(): ReadableStreamLike {
    this.sentBytes = 0;
    const pieces = this.#read();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await pieces.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        cancel: async () => void (await pieces.return()),
      },
      { highWaterMark: 0 },
    );
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    await using file = await open(this.#path).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`cannot read '${this.#path}': ${error.message}`);
    });
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      this.sentBytes += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}
