// Records the trajectory of a run as it happens: `events.jsonl`, `blobs/`, `contexts.jsonl` and `meta.json` in a folder of its own.
//
// Writing an event never blocks the run. Events go to disk in order: at once when there are few, and batched over a few milliseconds when
// there are many, since a write can cost more than a local model call. Disk errors do not affect the run: the first one is reported,
// and nothing is recorded after it. Known secrets never reach the disk.

import type { RunId } from "../../protocol/ids.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunResult } from "../../protocol/runs.ts";
import { MAX_CONTEXT_BYTES, recordContext, type ContextSource } from "./context-recording.ts";
import { EventEncoder } from "./event-encoder.ts";
import { RunFiles, thisWriter } from "./run-files.ts";
import { formatSize } from "../../util/text/format.ts";
import { isRunId, runsFolder, SCHEMA_VERSION, toHead } from "./run-log-format.ts";

const MAX_QUEUED_EVENTS = 100_000;
const MAX_QUEUED_CHARACTERS = 64 * 1024 * 1024;
/** As much as all runs together may keep. Code of a run decides what is in it. */
const MAX_BYTES = 2 * 1024 ** 3;
const BATCH = 256;
/** Between two writes, unless the run has ended. */
const GATHER_MS = 5;
/** Between two full batches: lets the run go on. */
const YIELD_MS = 1;
const MAX_QUERY = 2000;

export interface RunLogOptions {
  /** Where the folders of runs are. Default: `runs` in the data folder. */
  readonly folder?: string;
  /** Texts that must not be recorded, such as keys. Those of fewer than 8 characters are ignored. */
  readonly secrets?: readonly string[];
  /** Contexts are recorded up to this many bytes in total; of others only size and digest. Null: no limit. Default: 64 MiB. */
  readonly contextBytes?: number | null;
  /** A longer log is not continued, except by the end of the run. Default: 2 GiB. */
  readonly maxBytes?: number;
  /** Called once, when something could not be recorded. */
  readonly onProblem?: (why: string) => void;
}

export class RunLogWriter implements AsyncDisposable {
  readonly runId: RunId;
  readonly #folder: string;
  readonly #encoder: EventEncoder;
  readonly #onProblem: (why: string) => void;
  readonly #maxBytes: number;
  #contextBytesLeft: number;
  #queue: { readonly event: RunEvent; readonly weight: number }[] = [];
  #queuedCharacters = 0;
  /** The disk operations so far, which run one at a time. */
  #work: Promise<void> = Promise.resolve();
  #isDraining = false;
  #writtenAt = -Infinity;
  /** Ends the wait for further events. */
  #flush: (() => void) | undefined;
  #files: RunFiles | undefined;
  #start: (RunEvent & { readonly type: "run-start" }) | undefined;
  #end: { readonly time: number; readonly result: RunResult } | undefined;
  #lost = 0;
  #isBroken = false;
  #closing: Promise<void> | undefined;

  /** Creates nothing before the first event. Throws a RangeError for an id that cannot be the name of a folder. */
  constructor(runId: RunId, options: RunLogOptions = {}) {
    if (!isRunId(runId)) throw new RangeError(`Cannot record a run as '${toHead(runId, 80)}': it is no id of a run`);
    this.runId = runId;
    this.#folder = options.folder ?? runsFolder();
    this.#encoder = new EventEncoder(options.secrets);
    this.#onProblem = options.onProblem ?? (() => {});
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#contextBytesLeft =
      options.contextBytes === null ? Number.POSITIVE_INFINITY : (options.contextBytes ?? MAX_CONTEXT_BYTES);
  }

  /** Deltas are not recorded: the events that end a call or an execution have the whole text. */
  write(event: RunEvent): void {
    if (event.type === "model-call-delta" || event.type === "output-delta" || this.#closing !== undefined) return;
    const weight = weigh(event);
    if (this.#isBroken || this.#isFull(event, weight)) {
      this.#lost += 1;
      return;
    }
    this.#queue.push({ event, weight });
    this.#queuedCharacters += weight;
    if (event.type === "run-end") this.#flush?.();
    if (this.#isDraining) return;
    this.#isDraining = true;
    void this.#enqueue(() => this.#drain());
  }

  /** Call once for each context. Never rejects. Files are streamed. */
  async recordContext(name: string, source: ContextSource): Promise<void> {
    if (this.#closing !== undefined) return;
    await this.#enqueue(async () => {
      const files = await this.#open();
      const { secrets } = this.#encoder;
      const context = await recordContext(source, { files, secrets, maxBytes: this.#contextBytesLeft });
      if (context.chunks !== null) this.#contextBytesLeft -= context.bytes ?? 0;
      await files.appendJson("contexts.jsonl", { name: this.#encoder.redact(name), ...context });
    });
  }

  /** Resolves when everything is on disk. Later events are ignored. A run without a `run-end` counts as broken. */
  async close(): Promise<void> {
    this.#closing ??= this.#finish();
    this.#flush?.();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #finish(): Promise<void> {
    await this.#work;
    const files = this.#files;
    if (files === undefined) return;
    try {
      if (!this.#isBroken) await files.sync();
      await this.#writeMeta(files, Date.now());
    } catch (error) {
      if (!this.#isBroken) this.#onProblem(toReason(error, this.#folder));
    } finally {
      await files.close().catch(() => {});
    }
  }

  /** The end of a run is always recorded. */
  #isFull({ type }: RunEvent, weight: number): boolean {
    const why = this.#whyFull(weight);
    if (why === undefined || type === "run-end") return false;
    if (this.#lost === 0) this.#onProblem(`${why}, so some of its events are left out`);
    return true;
  }

  #whyFull(weight: number): string | undefined {
    if ((this.#files?.bytes ?? 0) >= this.#maxBytes) return `the run takes more than ${formatSize(this.#maxBytes)}`;
    const isFull =
      this.#queue.length >= MAX_QUEUED_EVENTS ||
      (this.#queue.length > 0 && this.#queuedCharacters + weight > MAX_QUEUED_CHARACTERS);
    return isFull ? "the disk is slower than the run" : undefined;
  }

  async #enqueue(job: () => Promise<void>): Promise<void> {
    this.#work = this.#after(this.#work, job);
    return this.#work;
  }

  /** Never rejects. */
  async #after(work: Promise<void>, job: () => Promise<void>): Promise<void> {
    await work;
    if (this.#isBroken) return;
    try {
      await job();
    } catch (error) {
      this.#break(error);
    }
  }

  async #drain(): Promise<void> {
    const files = await this.#open();
    while (this.#queue.length > 0) {
      await this.#gather();
      const batch = this.#queue.slice(0, BATCH);
      let lines = "";
      for (const { event } of batch) {
        if (event.type === "run-start") this.#start = event;
        if (event.type === "run-end") this.#end = event;
        const { line, blobs } = this.#encoder.encode(event);
        for (const [digest, data] of blobs) await files.keepBlob(digest, data);
        lines += line;
      }
      if (batch.some(({ event }) => event === this.#start)) await this.#writeMeta(files, null);
      await files.append(lines);
      this.#writtenAt = performance.now();
      this.#queue.splice(0, batch.length);
      this.#queuedCharacters -= batch.reduce((sum, { weight }) => sum + weight, 0);
    }
    this.#isDraining = false;
  }

  /** Waits for further events of the same batch. */
  async #gather(): Promise<void> {
    const isLast = this.#closing !== undefined || this.#queue.at(-1)?.event.type === "run-end";
    const pauseMs = this.#queue.length < BATCH ? GATHER_MS : YIELD_MS;
    const leftMs = this.#writtenAt + pauseMs - performance.now();
    await new Promise<void>((resolve) => {
      if (isLast || leftMs <= 0) return void setImmediate(resolve);
      const timer = setTimeout(resolve, leftMs);
      this.#flush = () => {
        clearTimeout(timer);
        setImmediate(resolve);
      };
    });
    this.#flush = undefined;
  }

  async #open(): Promise<RunFiles> {
    this.#files ??= await RunFiles.open(this.#folder, this.runId);
    return this.#files;
  }

  async #writeMeta(files: RunFiles, closed: number | null): Promise<void> {
    const { result, time } = this.#end ?? {};
    await files.replaceJson("meta.json", {
      schemaVersion: SCHEMA_VERSION,
      id: this.runId,
      query: toHead(this.#encoder.redact(this.#start?.query ?? ""), MAX_QUERY),
      model: this.#start?.model ?? "",
      subModel: this.#start?.subModel ?? "",
      started: this.#start?.time ?? closed,
      ended: closed === null ? null : (time ?? closed),
      status: result?.status ?? null,
      stopReason: result?.stopReason ?? null,
      usage: result?.usage.total ?? null,
      wallMs: result?.usage.wallMs ?? null,
      bytes: closed === null ? null : files.bytes,
      lostEvents: this.#lost,
      writer: thisWriter(),
    });
  }

  #break(error: unknown): void {
    this.#isBroken = true;
    this.#lost += this.#queue.length;
    this.#queue = [];
    this.#onProblem(toReason(error, this.#folder));
  }
}

/** What is wrong, and what to do. */
function toReason(error: unknown, folder: string): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "EEXIST") return "a run with this id is already recorded";
  const why = WHY_NOT[code];
  if (why === undefined) return message;
  return `cannot write to ${folder}: ${why}. ${code in FULL ? "Free some space there, or set" : "Set"} RLM_DATA to another folder`;
}

const FULL: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of this user is used up",
  EFBIG: "a file would become larger than is allowed",
};
const WHY_NOT: Readonly<Record<string, string>> = {
  ...FULL,
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOTDIR: "part of the path is a file",
  EMFILE: "too many files are open in this process",
};

/** The approximate number of characters, without messages, which the run holds in any case. */
function weigh(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 3) return 8;
  let sum = 8;
  for (const name in value) {
    if (name !== "messages") sum += weigh((value as Record<string, unknown>)[name], depth + 1);
  }
  return sum;
}
