// The trajectory of a run, written as it happens: `events.jsonl`, `blobs/`, `contexts.jsonl` and `meta.json` in a folder of its own.
//
// Whoever writes an event does not wait. Events go to disk in their order, each at once where little happens; where much happens, those
// of a few milliseconds go together, since a write costs more than a call of a model that is on the same machine. What disks do never
// reaches the run: the first problem is reported, once, and from then on nothing is recorded. Secrets that it was told never get to the
// disk.

import type { RunId } from "../../protocol/ids.ts";
import type { RunEvent, RunResult } from "../../protocol/runs.ts";
import { MAX_CONTEXT_BYTES, recordContext, type ContextSource } from "./context-recording.ts";
import { EventEncoder } from "./event-encoder.ts";
import { RunFiles, thisWriter } from "./run-files.ts";
import { isRunId, runsFolder, SCHEMA_VERSION, toHead } from "./run-log-format.ts";

const MAX_WAITING_EVENTS = 100_000;
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;
const BATCH = 256;
/** From one write to the next, unless the run has ended. */
const GATHER_MS = 5;
/** The same where enough waits for one: the run goes first. */
const YIELD_MS = 1;
const MAX_QUERY = 2000;

export interface RunLogOptions {
  /** Where the folders of runs are. Default: `runs` in the data folder. */
  readonly folder?: string;
  /** Texts that must not be recorded, such as keys. Those of fewer than 8 characters are not looked for. */
  readonly secrets?: readonly string[];
  /** Contexts are kept whole up to this many bytes in all, of larger ones size and digest. Null: all of them. Default: 64 MiB. */
  readonly contextBytes?: number | null;
  /** Told once, when something could not be recorded. */
  readonly onProblem?: (why: string) => void;
}

export class RunLogWriter implements AsyncDisposable {
  readonly runId: RunId;
  readonly #folder: string;
  readonly #encoder: EventEncoder;
  readonly #onProblem: (why: string) => void;
  #contextBytesLeft: number;
  #waiting: { readonly event: RunEvent; readonly weight: number }[] = [];
  #waitingCharacters = 0;
  /** The work on the disk so far: one thing at a time. */
  #work: Promise<void> = Promise.resolve();
  #isDraining = false;
  #writtenAt = -Infinity;
  /** Ends the wait for further events. */
  #hurry: (() => void) | undefined;
  #files: RunFiles | undefined;
  #start: (RunEvent & { readonly type: "run-start" }) | undefined;
  #end: { readonly time: number; readonly result: RunResult } | undefined;
  #lost = 0;
  #isBroken = false;
  #closing: Promise<void> | undefined;

  /** Nothing is on disk before the first event. Throws a RangeError for an id that cannot be the name of a folder. */
  constructor(runId: RunId, options: RunLogOptions = {}) {
    if (!isRunId(runId)) throw new RangeError(`Cannot record a run as '${toHead(runId, 80)}': it is no id of a run`);
    this.runId = runId;
    this.#folder = options.folder ?? runsFolder();
    this.#encoder = new EventEncoder(options.secrets);
    this.#onProblem = options.onProblem ?? (() => {});
    this.#contextBytesLeft =
      options.contextBytes === null ? Number.POSITIVE_INFINITY : (options.contextBytes ?? MAX_CONTEXT_BYTES);
  }

  /** Parts of a text on its way are for those who watch: the end of a call and of code has all of it. */
  write(event: RunEvent): void {
    if (event.type === "model-call-delta" || event.type === "output-delta" || this.#closing !== undefined) return;
    const weight = weigh(event);
    if (this.#isBroken || this.#isFull(event, weight)) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push({ event, weight });
    this.#waitingCharacters += weight;
    if (event.type === "run-end") this.#hurry?.();
    if (this.#isDraining) return;
    this.#isDraining = true;
    void this.#queue(() => this.#drain());
  }

  /** Once for each context. Resolves when it is recorded, or is not going to be; never rejects. A file is read, not held in memory. */
  async recordContext(name: string, source: ContextSource): Promise<void> {
    if (this.#closing !== undefined) return;
    await this.#queue(async () => {
      const files = await this.#open();
      const { secrets } = this.#encoder;
      const context = await recordContext(source, { files, secrets, maxBytes: this.#contextBytesLeft });
      if (context.chunks !== null) this.#contextBytesLeft -= context.bytes ?? 0;
      await files.appendJson("contexts.jsonl", { name: this.#encoder.redact(name), ...context });
    });
  }

  /** Resolves when everything is on disk; what is written from now on is not. A run without a `run-end` stays a broken one. */
  async close(): Promise<void> {
    this.#closing ??= this.#finish();
    this.#hurry?.();
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
      if (!this.#isBroken) this.#onProblem(toReason(error));
    } finally {
      await files.close().catch(() => {});
    }
  }

  /** The end of a run is never left out. */
  #isFull({ type }: RunEvent, weight: number): boolean {
    const isFull =
      this.#waiting.length >= MAX_WAITING_EVENTS ||
      (this.#waiting.length > 0 && this.#waitingCharacters + weight > MAX_WAITING_CHARACTERS);
    if (!isFull || type === "run-end") return false;
    if (this.#lost === 0) this.#onProblem("the disk is slower than the run, so some of its events are left out");
    return true;
  }

  async #queue(job: () => Promise<void>): Promise<void> {
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
    while (this.#waiting.length > 0) {
      await this.#gather();
      const batch = this.#waiting.slice(0, BATCH);
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
      this.#waiting.splice(0, batch.length);
      this.#waitingCharacters -= batch.reduce((sum, { weight }) => sum + weight, 0);
    }
    this.#isDraining = false;
  }

  /** What happens at the same moment is one write in any case. */
  async #gather(): Promise<void> {
    const isLast = this.#closing !== undefined || this.#waiting.at(-1)?.event.type === "run-end";
    const pauseMs = this.#waiting.length < BATCH ? GATHER_MS : YIELD_MS;
    const leftMs = this.#writtenAt + pauseMs - performance.now();
    await new Promise<void>((resolve) => {
      if (isLast || leftMs <= 0) return void setImmediate(resolve);
      const timer = setTimeout(resolve, leftMs);
      this.#hurry = () => {
        clearTimeout(timer);
        setImmediate(resolve);
      };
    });
    this.#hurry = undefined;
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
    this.#lost += this.#waiting.length;
    this.#waiting = [];
    this.#onProblem(toReason(error));
  }
}

function toReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return "the disk is full";
  if (code === "EEXIST") return "a run with this id is already recorded";
  return message;
}

/** About how many characters it holds. Messages are held by the run in any case. */
function weigh(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 3) return 8;
  let sum = 8;
  for (const name in value) {
    if (name !== "messages") sum += weigh((value as Record<string, unknown>)[name], depth + 1);
  }
  return sum;
}
