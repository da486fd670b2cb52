// The files in the working directory of a session.
//
// Every operation is a job inside the sandbox, so a path can reach no more than the session's own code, and no operation waits for an
// execution. Paths are relative to the working directory, or absolute below it. A path that leads out of it, by `..` or by a link, is a
// REPLSecurityError. Content is streamed in pieces; only `read` holds all of it in memory.

import { requireCapability, type Declared } from "../../environments/capabilities.ts";
import type { Sandbox } from "../../environments/environment.ts";
import { FileError, REPLSecurityError, WorkerLostError } from "../../errors.ts";
import type { FileEntry, FileListing } from "../../protocol/files.ts";
import type { ActiveWork } from "../../util/async/active-work.ts";
import { checkCount } from "../../util/check-number.ts";
import type { KeepAlive } from "../keep-alive.ts";
import { FileJob, type FileAnswer } from "./file-job.ts";
import { FileWatch } from "./file-watch.ts";
import { toInnerPath } from "./file-path.ts";
import { openHostFile, writeHostFile } from "./host-file.ts";
import { Semaphore } from "../../util/async/semaphore.ts";
import { onAbort } from "../../util/async/on-abort.ts";

/** All of the content, or a stream of it. */
export type FileContent = string | Uint8Array | AsyncIterable<string | Uint8Array>;

export interface FileOptions {
  /** Aborting ends the operation. A file that was being written is unchanged. */
  readonly signal?: AbortSignal;
}

export interface FileRangeOptions extends FileOptions {
  /** In bytes. Default: 0. */
  readonly offset?: number;
  /** The maximum number of bytes. Default: up to the end as it was when the file was opened. */
  readonly length?: number;
}

/** A file open for reading. Read its pieces once, to the end, or close it. */
export interface OpenFile {
  /** Of the whole file when it was opened. */
  readonly size: number;
  readonly modifiedAt: string;
  /** Another one when the content has changed: from the size, the time in nanoseconds, and which file it is. */
  readonly version: string;
  readonly pieces: AsyncIterable<Buffer>;
  /** Idempotent. */
  close(): void;
}

export interface FileReadOptions extends FileRangeOptions {
  /** Larger content is refused with reason `too-large`. Default: 64 MiB. */
  readonly maxBytes?: number;
}

/** The part of a session that its files need. */
interface FilesOwner {
  /** Throws SessionClosedError. */
  checkOpen(): void;
  readonly state: string;
  /** In use while an operation runs. Watching does not count. */
  readonly keepAlive: KeepAlive;
  readonly activeWork: ActiveWork;
  /** `sandbox` is the current one; `recovery` settles when a lost one has been replaced. */
  readonly kernels: { readonly sandbox: Sandbox; readonly recovery: Promise<unknown> | undefined };
}

interface Request {
  readonly do: "read" | "write" | "stat" | "list" | "make-folder" | "rename" | "remove" | "watch";
  readonly path: string;
  readonly [detail: string]: unknown;
}

/** For messages: what is done to which file. */
interface Target {
  readonly action: string;
  readonly path: string;
}

const MIB = 1024 * 1024;
const DEFAULT_MAX_BYTES = 64 * MIB;
const HOST_PIECE_BYTES = 256 * 1024;
const TRANSFERS_AT_ONCE = 8;
const OTHERS_AT_ONCE = 4;
const MAX_WAITING = 1000;
const MAX_WATCHES = 8;
const MAX_DEPTH = 64;

export class Files {
  readonly #owner: FilesOwner;
  readonly #environment: Declared;
  /** Reads and writes may take long, so quick operations do not queue behind them. */
  readonly #transfers = new Semaphore(TRANSFERS_AT_ONCE, MAX_WAITING);
  readonly #others = new Semaphore(OTHERS_AT_ONCE, MAX_WAITING);
  #watches = 0;

  constructor(owner: FilesOwner, environment: Declared) {
    this.#owner = owner;
    this.#environment = environment;
  }

  /** A whole file, or a part of it, in memory. */
  async read(path: string, options: FileReadOptions = {}): Promise<Buffer> {
    checkCount("maxBytes", options.maxBytes, 0);
    const chunks: Buffer[] = [];
    for await (const chunk of this.#read(path, options, options.maxBytes ?? DEFAULT_MAX_BYTES)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** Streams a file of any size with backpressure. It is opened when the first piece is requested. */
  readStream(path: string, options: FileRangeOptions = {}): AsyncIterable<Buffer> {
    return this.#read(path, options, undefined);
  }

  /** Like `readStream`, but opens the file at once and returns its size. Holds a process until it is read or closed. */
  async open(path: string, options: FileRangeOptions = {}): Promise<OpenFile> {
    const job = await this.#openToRead(path, options, undefined);
    try {
      const answer = await job.next();
      if (answer?.type !== "size") throw this.#toError({ action: "read", path }, answer);
      const { size, modifiedAt, version } = answer;
      return { size, modifiedAt, version, pieces: this.#pieces(job, path, options.signal), close: () => job.close() };
    } catch (error) {
      job.close();
      options.signal?.throwIfAborted();
      throw error;
    }
  }

  /** Copies a file to a path of the host. A file there is replaced only when the copy is complete. */
  async readTo(path: string, hostPath: string, options: FileRangeOptions = {}): Promise<{ readonly size: number }> {
    return { size: await writeHostFile(hostPath, this.#read(path, options, undefined)) };
  }

  /** The working directory, as code in the session sees it. */
  get folder(): string {
    return this.#owner.kernels.sandbox.folder;
  }

  /** Creates or replaces a file atomically, and creates its parent folders. */
  async write(path: string, content: FileContent, options: FileOptions = {}): Promise<FileEntry> {
    const chunks = toChunks(content);
    const answers = await this.#run("write", { do: "write", path }, options, (job) => send(job, chunks));
    return entryOf(answers);
  }

  /** Copies a file of the host. */
  async writeFrom(path: string, hostPath: string, options: FileOptions = {}): Promise<FileEntry> {
    const file = await openHostFile(hostPath);
    try {
      const content = file.createReadStream({ highWaterMark: HOST_PIECE_BYTES, autoClose: false });
      return await this.write(path, content, options);
    } finally {
      await file.close();
    }
  }

  /** Lists a folder, sorted; with `depth` its subfolders, too. Links are not followed. */
  async list(path = ".", { depth = 1, signal }: FileOptions & { readonly depth?: number } = {}): Promise<FileListing> {
    checkCount("depth", depth, 1);
    const request: Request = { do: "list", path, depth: Math.min(depth, MAX_DEPTH) };
    const answers = await this.#run("list", request, { signal });
    const entries = answers.flatMap((answer) => (answer.type === "entry" ? [answer.entry] : []));
    return { entries, omitted: doneOf(answers).omitted };
  }

  /** Describes a file, folder or link. Links are not followed. */
  async stat(path: string, options: FileOptions = {}): Promise<FileEntry> {
    return entryOf(await this.#run("stat", { do: "stat", path }, options));
  }

  async exists(path: string, options: FileOptions = {}): Promise<boolean> {
    try {
      await this.stat(path, options);
      return true;
    } catch (error) {
      if (error instanceof FileError && (error.reason === "not-found" || error.reason === "not-a-folder")) return false;
      throw error;
    }
  }

  /** Creates a folder and its parents. False: it existed. */
  async makeFolder(path: string, options: FileOptions = {}): Promise<boolean> {
    return doneOf(await this.#run("make the folder", { do: "make-folder", path }, options)).made;
  }

  /** Moves a file, link or folder, and creates parent folders. A file at the new path is replaced. */
  async rename(path: string, to: string, options: FileOptions = {}): Promise<FileEntry> {
    const inner = this.#inner("rename", to);
    return entryOf(await this.#run("rename", { do: "rename", path, to: inner }, options));
  }

  /** Removes a file, a link (not its target), or a folder with its content. */
  async remove(path: string, options: FileOptions = {}): Promise<void> {
    await this.#run("remove", { do: "remove", path }, options);
  }

  /** Resolves when watching has started. Close the watch, or leave its loop. Throws CapabilityMissingError. */
  async watch(path = ".", { recursive = false }: { readonly recursive?: boolean } = {}): Promise<FileWatch> {
    const target = { action: "watch", path };
    const inner = this.#inner("watch", path);
    requireCapability(this.#environment, "watch", `watch '${path}'`);
    if (this.#watches >= MAX_WATCHES) throw denied(target, `${MAX_WATCHES} watches are open in this session already`);
    this.#watches += 1;
    const release = (): void => void (this.#watches -= 1);
    try {
      const job = await this.#start({ do: "watch", path: inner, recursive });
      const onEnd = (last: FileAnswer | undefined): Error | undefined =>
        this.#owner.state === "closed" ? undefined : this.#toError(target, last);
      const watch = new FileWatch(job, onEnd, release);
      await watch.ready;
      return watch;
    } catch (error) {
      release();
      throw error;
    }
  }

  async *#read(path: string, options: FileRangeOptions, maxBytes: number | undefined): AsyncGenerator<Buffer, void> {
    const job = await this.#openToRead(path, options, maxBytes);
    yield* this.#pieces(job, path, options.signal);
  }

  async #openToRead(
    path: string,
    { offset, length, signal }: FileRangeOptions,
    maxBytes: number | undefined,
  ): Promise<FileJob> {
    checkCount("offset", offset, 0);
    checkCount("length", length, 0);
    const inner = this.#inner("read", path);
    return this.#open({ do: "read", path: inner, offset, length, maxBytes }, { action: "read", path }, signal);
  }

  async *#pieces(job: FileJob, path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void> {
    try {
      for (;;) {
        const answer = await job.next();
        if (answer?.type === "data") yield answer.chunk;
        else if (answer?.type === "done") return;
        else if (answer?.type !== "size") throw this.#toError({ action: "read", path }, answer);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      job.close();
    }
  }

  /** Runs an operation and returns all answers up to `done`. */
  async #run(
    action: string,
    request: Request,
    { signal }: { readonly signal?: AbortSignal | undefined },
    feed: (job: FileJob) => Promise<void> = async () => {},
  ): Promise<FileAnswer[]> {
    const target = { action, path: request.path };
    const inner = this.#inner(action, request.path);
    const job = await this.#open({ ...request, path: inner }, target, signal);
    const answers: FileAnswer[] = [];
    try {
      await feed(job);
      for (;;) {
        const answer = await job.next();
        if (answer === undefined || answer.type === "error") throw this.#toError(target, answer);
        answers.push(answer);
        if (answer.type === "done") return answers;
      }
    } catch (error) {
      job.close();
      await job.whenEnded(); // it has cleaned up
      signal?.throwIfAborted();
      throw error;
    } finally {
      job.close();
    }
  }

  /** Starts a job that holds a permit of its semaphore and is closed when the signal is aborted. */
  async #open(request: Request, target: Target, signal: AbortSignal | undefined): Promise<FileJob> {
    const semaphore = request.do === "read" || request.do === "write" ? this.#transfers : this.#others;
    if (!(await semaphore.acquire(signal)))
      throw denied(target, `${MAX_WAITING} operations wait in this session already`);
    this.#owner.keepAlive.enter();
    const release = (): void => {
      this.#owner.keepAlive.leave();
      semaphore.release();
    };
    try {
      const job = await this.#start(request);
      const stopListening = onAbort(signal, () => job.close());
      job.onClose = () => {
        stopListening();
        release();
      };
      if (signal?.aborted) job.close();
      return job;
    } catch (error) {
      release();
      throw error;
    }
  }

  #start(request: Request): Promise<FileJob> {
    return this.#owner.activeWork.during(() => this.#startJob(request));
  }

  async #startJob(request: Request): Promise<FileJob> {
    const attempt = (): Promise<FileJob> => {
      this.#owner.checkOpen();
      const { kernels, activeWork } = this.#owner;
      return FileJob.start(kernels.sandbox, { ...request, folder: kernels.sandbox.folder }, activeWork);
    };
    try {
      return await attempt();
    } catch (error) {
      const { recovery } = this.#owner.kernels;
      if (recovery === undefined) throw error;
      await recovery;
      return attempt();
    }
  }

  #inner(action: string, path: string): string {
    this.#owner.checkOpen();
    return toInnerPath(path, { action, folder: this.folder, environment: this.#environment.name });
  }

  #toError({ action, path }: Target, answer: FileAnswer | undefined): Error {
    if (answer?.type !== "error") {
      this.#owner.checkOpen(); // most likely it ended with the session
      return new WorkerLostError(`Cannot ${action} '${path}': the process that did it was ended`);
    }
    const { reason, why } = answer;
    if (reason !== "refused") return new FileError({ action, path, reason, why });
    return new REPLSecurityError({ action, target: path, environment: this.#environment.name, why });
  }
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Sends all content, unless the job ends first and reports why. Does not wait for a stuck source then. */
async function send(job: FileJob, chunks: Chunks): Promise<void> {
  await Promise.race([sendAll(job, chunks), job.whenEnded()]);
}

async function sendAll(job: FileJob, chunks: Chunks): Promise<void> {
  for await (const chunk of chunks) {
    if (!(await job.send(typeof chunk === "string" ? Buffer.from(chunk) : chunk))) return;
  }
  job.finish();
}

function toChunks(content: FileContent): Chunks {
  if (typeof content === "string") return [Buffer.from(content)];
  if (content instanceof Uint8Array) return [content];
  if (typeof content === "object" && content !== null && Symbol.asyncIterator in content) return content;
  throw new TypeError(`Cannot write a ${typeof content}: content is a string, bytes or an async iterable of them`);
}

function denied(target: Target, why: string): FileError {
  return new FileError({ ...target, reason: "denied", why });
}

function entryOf(answers: readonly FileAnswer[]): FileEntry {
  for (const answer of answers) if (answer.type === "entry") return answer.entry;
  throw incomplete();
}

function doneOf(answers: readonly FileAnswer[]): Extract<FileAnswer, { type: "done" }> {
  const last = answers.at(-1);
  if (last?.type === "done") return last;
  throw incomplete();
}

function incomplete(): WorkerLostError {
  return new WorkerLostError("Cannot determine the result of a file operation: the reply was incomplete");
}
