// The files of a session on a server.

import {
  checkFileList,
  checkFileOptions,
  checkFileRange,
  checkFileRead,
  checkPath,
} from "../../api/checks/check-calls.ts";
import { checkContent } from "../../api/content.ts";
import type * as api from "../../api/files.ts";
import { OPTIONS } from "../../api/checks/option-names.ts";
import type { Content } from "../../api/web-types.ts";
import { FileError } from "../../errors.ts";
import type { FileEntry, FileListing } from "../../protocol/files.ts";
import { toBody } from "../net/body.ts";
import { notOurs } from "../net/failure.ts";
import { join, readBytes, toJSON } from "../net/read-body.ts";
import type { Request, Requests } from "../net/requests.ts";
import { fileEntry, fileListing } from "../shapes/sessions.ts";
import { toFilePath } from "./file-path.ts";
import { readFile } from "./read-file.ts";
import { RemoteFileWatch } from "./watch.ts";

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const MAX_LISTING_BYTES = 64 * 1024 * 1024;
const BYTES = "application/octet-stream";

export class RemoteFiles implements api.Files {
  readonly #requests: Requests;
  readonly #session: string;

  /** `session` is the path of the session. */
  constructor(requests: Requests, session: string) {
    this.#requests = requests;
    this.#session = session;
  }

  read(path: string, options: api.FileReadOptions = {}): Promise<Uint8Array> {
    checkPath(path);
    checkFileRead(options);
    const { maxBytes = DEFAULT_MAX_BYTES, ...range } = options;
    return collect(path, this.#open(path, range, maxBytes), maxBytes);
  }

  readStream(path: string, options: api.FileRangeOptions = {}): AsyncIterable<Uint8Array> {
    checkPath(path);
    checkFileRange("files.readStream", options);
    return this.#open(path, options);
  }

  write(path: string, content: Content, options: api.FileOptions = {}): Promise<FileEntry> {
    checkPath(path);
    checkContent("the content of a file", content);
    checkFileOptions("files.write", options);
    const url = this.#url(path);
    if (path.endsWith("/")) return this.#refuseFolder(path, options);
    return this.#write(url, toBody(content, BYTES), options);
  }

  list(path = ".", options: api.FileListOptions = {}): Promise<FileListing> {
    checkPath(path);
    checkFileList(options);
    const url = path === "." ? `${this.#session}/files` : this.#url(path);
    return this.#list(path, url, { query: { depth: options.depth }, signal: options.signal });
  }

  stat(path: string, options: api.FileOptions = {}): Promise<FileEntry> {
    checkPath(path);
    checkFileOptions("files.stat", options);
    return this.#stat(path, options);
  }

  exists(path: string, options: api.FileOptions = {}): Promise<boolean> {
    checkPath(path);
    checkFileOptions("files.exists", options);
    return this.#stat(path, options).then(
      () => true,
      (error: unknown) => {
        if (error instanceof FileError && ["not-found", "not-a-folder"].includes(error.reason)) return false;
        throw error;
      },
    );
  }

  makeFolder(path: string, options: api.FileOptions = {}): Promise<boolean> {
    checkPath(path);
    checkFileOptions("files.makeFolder", options);
    const url = this.#url(`${path}/`); // the server removes one slash
    return this.#requests.bytes("PUT", url, { signal: options.signal }).then(({ status }) => status === 201);
  }

  rename(path: string, to: string, options: api.FileOptions = {}): Promise<FileEntry> {
    checkPath(path);
    checkPath(to);
    checkFileOptions("files.rename", options);
    toFilePath(path);
    toFilePath(to);
    const request = { json: { path, to }, signal: options.signal };
    return this.#requests.json("POST", `${this.#session}/rename`, fileEntry, request);
  }

  remove(path: string, options: api.FileOptions = {}): Promise<void> {
    checkPath(path);
    checkFileOptions("files.remove", options);
    return this.#requests.send("DELETE", this.#url(path), {
      signal: options.signal,
      isDone: (error) => error instanceof FileError && error.reason === "not-found",
    });
  }

  watch(path = ".", options: api.FileWatchOptions = {}): Promise<api.FileWatch> {
    checkPath(path);
    checkFileOptions("files.watch", options, OPTIONS.fileWatch);
    toFilePath(path);
    return new RemoteFileWatch(this.#requests.connection, `${this.#session}/watch`, path, options).open();
  }

  #open(path: string, options: api.FileRangeOptions, maxBytes?: number): AsyncIterable<Uint8Array> {
    const { offset = 0, length, signal } = options;
    return readFile(this.#requests, { path, url: this.#url(path), offset, length, signal, maxBytes });
  }

  async #write(url: string, body: ReturnType<typeof toBody>, { signal }: api.FileOptions): Promise<FileEntry> {
    return this.#requests.json("PUT", url, fileEntry, { body: await body, signal, isUpload: true });
  }

  #stat(path: string, { signal }: api.FileOptions): Promise<FileEntry> {
    return this.#requests.json("GET", this.#url(path), fileEntry, { query: { stat: true }, signal });
  }

  /** Writing to a path with a slash at its end would make a folder. Only the server knows whether the path leads out of the session's folder. */
  async #refuseFolder(path: string, options: api.FileOptions): Promise<never> {
    await this.exists(path, options);
    throw new FileError({ action: "write", path, reason: "is-a-folder", why: "it names a folder" });
  }

  /** A file has its content as the response, which is not JSON. */
  async #list(path: string, url: string, request: Request): Promise<FileListing> {
    const { connection } = this.#requests;
    const listing = await this.#requests.repeat("GET", url, request, async ({ response, toFailure }) => {
      if (response.headers.get("content-type")?.startsWith("application/json") !== true) return undefined;
      return readBytes(response, connection.clock, MAX_LISTING_BYTES).then(toJSON, (error: unknown) => {
        throw toFailure(error);
      });
    });
    if (fileListing(listing)) return listing;
    if (listing !== undefined) throw notOurs(connection.url, "it sends an invalid list of files");
    throw new FileError({ action: "list", path, reason: "not-a-folder", why: "it is not a folder" });
  }

  #url(path: string): string {
    return `${this.#session}/files/${toFilePath(path)}`;
  }
}

async function collect(path: string, pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const piece of pieces) {
    total += piece.length;
    if (total > maxBytes) throw tooLarge(path, maxBytes);
    chunks.push(piece);
  }
  return join(chunks, total);
}

function tooLarge(path: string, maxBytes: number): FileError {
  const why = `it has more than ${maxBytes} bytes. Use readStream, or raise maxBytes`;
  return new FileError({ action: "read", path, reason: "too-large", why });
}
