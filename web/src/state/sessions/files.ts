// The files of a session: one folder at a time, uploads, and a preview of one file.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { FileListing, Session } from "rlm-runtime/client";
import type { UploadProgress } from "../upload-progress.ts";
import { previewOf, type Preview } from "./preview.ts";

export interface Upload {
  readonly key: number;
  readonly path: string;
  readonly size: number;
  /** Bytes that were sent. */
  readonly sent: number;
  readonly state: "waiting" | "sending" | "done" | "failed" | "stopped";
  readonly why?: string;
}

const MAX_UPLOADS_SHOWN = 50;
/** A download is held in memory until it is complete. */
const MAX_DOWNLOAD_BYTES = 1024 * 1024 * 1024;

export class SessionFiles {
  readonly #folder = signal("");
  readonly #listing = signal<FileListing | undefined>(undefined);
  readonly #failure = signal<string | undefined>(undefined);
  readonly #uploads = signal<readonly Upload[]>([]);
  readonly #preview = signal<Preview | undefined>(undefined);
  readonly #session: Session;
  readonly #progress: UploadProgress;
  #stops = new Map<number, AbortController>();
  #queue: Promise<unknown> = Promise.resolve();
  #count = 0;
  #isWatched = false;

  constructor(session: Session, progress: UploadProgress) {
    this.#session = session;
    this.#progress = progress;
  }

  /** The folder that is shown; empty: the working directory. */
  get folder(): ReadonlySignal<string> {
    return this.#folder;
  }

  /** Undefined: not known yet. */
  get listing(): ReadonlySignal<FileListing | undefined> {
    return this.#listing;
  }

  get failure(): ReadonlySignal<string | undefined> {
    return this.#failure;
  }

  get uploads(): ReadonlySignal<readonly Upload[]> {
    return this.#uploads;
  }

  /** Undefined: no file is open. */
  get preview(): ReadonlySignal<Preview | undefined> {
    return this.#preview;
  }

  /** The folder is read only while somebody looks at it. Dispose to stop. */
  watch(): Disposable {
    this.#isWatched = true;
    void this.#read();
    return { [Symbol.dispose]: () => void (this.#isWatched = false) };
  }

  /** An execution has ended: it may have written files. */
  change(): void {
    if (this.#isWatched) void this.#read();
  }

  open(folder: string): void {
    if (folder === this.#folder.value && this.#listing.value !== undefined) return;
    this.#folder.value = folder;
    this.#listing.value = undefined;
    void this.#read();
  }

  /** Shows the beginning of a text, or an image. */
  async show(path: string): Promise<void> {
    this.closePreview();
    this.#preview.value = { path, kind: "reading" };
    const preview = await previewOf(this.#session, path).catch((error: unknown): Preview => ({
      path,
      kind: "failed",
      why: toMessage(error),
    }));
    if (this.#preview.value?.path === path) this.#preview.value = preview;
    else if (preview.kind === "image") URL.revokeObjectURL(preview.url);
  }

  closePreview(): void {
    if (this.#preview.value?.kind === "image") URL.revokeObjectURL(this.#preview.value.url);
    this.#preview.value = undefined;
  }

  /** One after the other, into the folder that is shown. */
  upload(files: Iterable<File>): void {
    for (const file of files) {
      const path = join(this.#folder.value, file.name);
      const key = (this.#count += 1);
      const stop = new AbortController();
      this.#stops.set(key, stop);
      this.#uploads.value = [
        ...this.#uploads.value,
        { key, path, size: file.size, sent: 0, state: "waiting" } as const,
      ].slice(-MAX_UPLOADS_SHOWN);
      this.#queue = this.#queue.then(() => this.#send(key, path, file, stop.signal));
    }
  }

  stop(key: number): void {
    this.#stops.get(key)?.abort();
  }

  /** Removes finished uploads from the list. */
  clearUploads(): void {
    this.#uploads.value = this.#uploads.value.filter(({ state }) => state === "waiting" || state === "sending");
  }

  async remove(path: string): Promise<void> {
    await this.#session.files.remove(path);
    if (this.#preview.value?.path === path) this.closePreview();
    await this.#read();
  }

  async makeFolder(name: string): Promise<void> {
    await this.#session.files.makeFolder(join(this.#folder.value, name));
    await this.#read();
  }

  /** The whole file, for the reader to keep. Its type says nothing, so that the browser never shows it as a page. */
  async download(path: string): Promise<Blob> {
    const pieces: BlobPart[] = [];
    let size = 0;
    for await (const piece of this.#session.files.readStream(path)) {
      size += piece.length;
      if (size > MAX_DOWNLOAD_BYTES) throw new Error("it has more than 1 GiB. Use files.readStream of the SDK");
      pieces.push(piece as Uint8Array<ArrayBuffer>);
    }
    return new Blob(pieces, { type: "application/octet-stream" });
  }

  close(): void {
    for (const stop of this.#stops.values()) stop.abort();
    this.closePreview();
  }

  async #read(): Promise<void> {
    const folder = this.#folder.value;
    try {
      const listing = await this.#session.files.list(folder === "" ? "." : folder);
      if (folder !== this.#folder.value) return;
      this.#listing.value = listing;
      this.#failure.value = undefined;
    } catch (error) {
      if (folder === this.#folder.value) this.#failure.value = toMessage(error);
    }
  }

  async #send(key: number, path: string, file: File, stop: AbortSignal): Promise<void> {
    if (stop.aborted) return this.#mark(key, { state: "stopped" });
    this.#mark(key, { state: "sending" });
    const following = this.#progress.follow(file, (sent) => this.#mark(key, { sent: Math.min(sent, file.size) }));
    try {
      await this.#session.files.write(path, file, { signal: stop });
      this.#mark(key, { state: "done" });
    } catch (error) {
      this.#mark(key, stop.aborted ? { state: "stopped" } : { state: "failed", why: toMessage(error) });
    } finally {
      following[Symbol.dispose]();
      this.#stops.delete(key);
    }
    await this.#read();
  }

  #mark(key: number, change: Partial<Upload>): void {
    this.#uploads.value = this.#uploads.value.map((upload) => (upload.key === key ? { ...upload, ...change } : upload));
  }
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
