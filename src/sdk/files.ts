// The files of a session as the SDK gives them.

import {
  checkFileList,
  checkFileOptions,
  checkFileRange,
  checkFileRead,
  checkPath,
} from "../api/checks/check-calls.ts";
import { checkContent, piecesOf } from "../api/content.ts";
import type {
  FileListOptions,
  FileOptions,
  FileRangeOptions,
  FileReadOptions,
  FileWatch,
  FileWatchOptions,
} from "../api/files.ts";
import type { LocalFiles } from "../api/local.ts";
import { OPTIONS } from "../api/checks/option-names.ts";
import type { Content } from "../api/web-types.ts";
import type { FileEntry, FileListing } from "../protocol/files.ts";
import type { Files as Inner } from "../session/files/files.ts";
import { onAbort } from "../util/async/on-abort.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toPlainBytes } from "./plain-bytes.ts";

export class SDKFiles implements LocalFiles {
  readonly #files: Inner;

  constructor(files: Inner) {
    this.#files = files;
  }

  get folder(): string {
    return this.#files.folder;
  }

  read(path: string, options: FileReadOptions = {}): Promise<Uint8Array> {
    checkPath(path);
    checkFileRead(options);
    return this.#read(path, options);
  }

  readStream(path: string, options: FileRangeOptions = {}): AsyncIterable<Uint8Array> {
    checkPath(path);
    checkFileRange("files.readStream", options);
    return plainPieces(this.#files.readStream(path, omitUndefined(options)));
  }

  write(path: string, content: Content, options: FileOptions = {}): Promise<FileEntry> {
    checkPath(path);
    checkContent("the content of a file", content);
    checkFileOptions("files.write", options);
    const isWhole = typeof content === "string" || content instanceof Uint8Array;
    return this.#files.write(path, isWhole ? content : piecesOf(content), omitUndefined(options));
  }

  list(path = ".", options: FileListOptions = {}): Promise<FileListing> {
    checkPath(path);
    checkFileList(options);
    return this.#files.list(path, omitUndefined(options));
  }

  stat(path: string, options: FileOptions = {}): Promise<FileEntry> {
    checkPath(path);
    checkFileOptions("files.stat", options);
    return this.#files.stat(path, omitUndefined(options));
  }

  exists(path: string, options: FileOptions = {}): Promise<boolean> {
    checkPath(path);
    checkFileOptions("files.exists", options);
    return this.#files.exists(path, omitUndefined(options));
  }

  makeFolder(path: string, options: FileOptions = {}): Promise<boolean> {
    checkPath(path);
    checkFileOptions("files.makeFolder", options);
    return this.#files.makeFolder(path, omitUndefined(options));
  }

  rename(path: string, to: string, options: FileOptions = {}): Promise<FileEntry> {
    checkPath(path);
    checkPath(to);
    checkFileOptions("files.rename", options);
    return this.#files.rename(path, to, omitUndefined(options));
  }

  remove(path: string, options: FileOptions = {}): Promise<void> {
    checkPath(path);
    checkFileOptions("files.remove", options);
    return this.#files.remove(path, omitUndefined(options));
  }

  watch(path = ".", options: FileWatchOptions = {}): Promise<FileWatch> {
    checkPath(path);
    checkFileOptions("files.watch", options, OPTIONS.fileWatch);
    return this.#watch(path, options);
  }

  readTo(path: string, hostPath: string, options: FileRangeOptions = {}): Promise<{ readonly size: number }> {
    checkPath(path);
    checkPath(hostPath);
    checkFileRange("files.readTo", options);
    return this.#files.readTo(path, hostPath, omitUndefined(options));
  }

  writeFrom(path: string, hostPath: string, options: FileOptions = {}): Promise<FileEntry> {
    checkPath(path);
    checkPath(hostPath);
    checkFileOptions("files.writeFrom", options);
    return this.#files.writeFrom(path, hostPath, omitUndefined(options));
  }

  async #read(path: string, options: FileReadOptions): Promise<Uint8Array> {
    return toPlainBytes(await this.#files.read(path, omitUndefined(options)));
  }

  async #watch(path: string, { recursive = false, signal }: FileWatchOptions): Promise<FileWatch> {
    signal?.throwIfAborted();
    const watch = await this.#files.watch(path, { recursive });
    const stopListening = onAbort(signal, () => void watch.close());
    const close = async (): Promise<void> => {
      stopListening();
      await watch.close();
    };
    return {
      close,
      [Symbol.asyncDispose]: close,
      [Symbol.asyncIterator]: () => watch[Symbol.asyncIterator](),
    };
  }
}

async function* plainPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) yield toPlainBytes(piece);
}
