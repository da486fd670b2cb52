// Reads recorded runs: ended, broken, or still in progress.
//
// A log is read line by line, whatever its size. The last line may be incomplete; damaged lines are skipped and counted.

import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunId } from "../../protocol/ids.ts";
import type { ModelCallEnd } from "../../protocol/run-events.ts";
import { readExactly } from "../../util/bytes/read-exactly.ts";
import { EventDecoder, type LineSpan, type RecordedEvent } from "./event-decoder.ts";
import { LogLines } from "./log-lines.ts";
import { RunFolder, type RunSummary } from "./run-folder.ts";
import { MAX_LINE_BYTES, runsFolder, type RecordedContext } from "./run-log-format.ts";

const POLL_MS = 100;
const NEWLINE = 0x0a;
/** More than a `run-end` has, whose result is a blob if it is large. */
const TAIL_BYTES = 64 * 1024;
const MAX_OPEN_ATTEMPTS = 10;
/** Calls that are indexed. */
const MAX_CALLS = 1_000_000;

export interface RunsOptions {
  /** Where the folders of runs are. Default: `runs` in the data folder. */
  readonly folder?: string;
}

export interface FollowOptions extends RunsOptions {
  readonly signal?: AbortSignal;
}

/** Identifies a model call across runs. */
export interface CallKey {
  readonly nodeId: string;
  readonly step: number;
  readonly ordinal: number;
  readonly requestHash: string;
}

/** Throws RunNotFoundError. */
export async function readRun(id: string, { folder = runsFolder() }: RunsOptions = {}): Promise<RecordedRun> {
  return new RecordedRun(await RunFolder.open(folder, id));
}

/** Yields recorded events and then new ones, until the run has ended or its process is gone. Throws RunNotFoundError. */
export async function* followRun(id: string, options: FollowOptions = {}): AsyncGenerator<RecordedEvent, void, void> {
  const run = await readRun(id, options);
  yield* run.follow(options.signal);
}

export class RecordedRun {
  /** Lines that were skipped so far, because they are not events. */
  damagedLines = 0;
  readonly #folder: RunFolder;
  #calls: Map<string, LineSpan> | undefined;

  constructor(folder: RunFolder) {
    this.#folder = folder;
  }

  get id(): RunId {
    return this.#folder.id;
  }

  /** Undefined where `meta.json` is missing or damaged. */
  async summary(): Promise<RunSummary | undefined> {
    return this.#folder.summary();
  }

  async contexts(): Promise<readonly RecordedContext[]> {
    return this.#folder.contexts();
  }

  /** The bytes of a context in chunks. Throws where it was not recorded. */
  async *readContext({ name, chunks }: RecordedContext): AsyncGenerator<Buffer, void, void> {
    if (chunks === null) throw new Error(`Cannot read context '${name}' of run '${this.id}': it was not kept`);
    for (const digest of chunks) yield await this.#folder.blob(digest);
  }

  /** The value of a `$blob` reference. Throws where it is missing, or does not match its digest. */
  async blob(digest: string): Promise<Buffer> {
    return this.#folder.blob(digest);
  }

  /** The events recorded so far. */
  async *events(): AsyncGenerator<RecordedEvent, void, void> {
    const file = await this.#folder.openEvents();
    try {
      yield* this.#read(new LogLines(file, MAX_LINE_BYTES), new EventDecoder(this.#folder));
    } finally {
      await file.close();
    }
  }

  /** The `run-end`, if it is the last line, as in every run that has ended. Reads only the end of the log. */
  async end(): Promise<RecordedEvent | undefined> {
    const file = await this.#folder.openEvents();
    try {
      const { size } = await file.stat();
      const start = Math.max(0, size - TAIL_BYTES);
      const tail = await readExactly(file, start, size - start);
      const before = tail.lastIndexOf("\n", -2);
      if (tail.at(-1) !== NEWLINE || (before === -1 && start > 0)) return undefined;
      const line = { offset: start + before + 1, bytes: tail.length - before - 1 };
      const event = new EventDecoder(this.#folder).read(tail.toString("utf8", before + 1), line);
      return event?.stored.type === "run-end" ? event : undefined;
    } finally {
      await file.close();
    }
  }

  async *follow(signal?: AbortSignal): AsyncGenerator<RecordedEvent, void, void> {
    const file = await this.#awaitEvents(signal);
    if (file === undefined) return;
    const [lines, decoder] = [new LogLines(file, MAX_LINE_BYTES), new EventDecoder(this.#folder)];
    try {
      for (;;) {
        const isOver = await this.#isOver(); // checked before reading, so that nothing written until then is missed
        for await (const event of this.#read(lines, decoder)) {
          signal?.throwIfAborted();
          yield event;
          if (event.stored.type === "run-end") return;
        }
        if (isOver) return;
        await sleep(POLL_MS, undefined, { ...(signal !== undefined && { signal }) });
      }
    } finally {
      await file.close();
    }
  }

  /** For random access to events. */
  async openReader(): Promise<EventReader> {
    return new EventReader(this.#folder, await this.#folder.openEvents());
  }

  /** The end of a model call; undefined where it is missing. The first lookup indexes the log. */
  async findCall({ nodeId, step, ordinal, requestHash }: CallKey): Promise<ModelCallEnd | undefined> {
    this.#calls ??= await this.#indexCalls();
    const line = this.#calls.get(toKey({ nodeId, step, ordinal, requestHash }));
    if (line === undefined) return undefined;
    await using reader = await this.openReader();
    const event = await (await reader.eventAt(line)).whole();
    return event.type === "model-call-end" ? event : undefined;
  }

  async #indexCalls(): Promise<Map<string, LineSpan>> {
    const [ends, started] = [new Map<string, LineSpan>(), new Map<unknown, string>()];
    for await (const { stored, line } of this.events()) {
      if (ends.size + started.size >= MAX_CALLS) break;
      if (stored.type === "model-call-start") started.set(stored["callId"], toKey(stored as unknown as CallKey));
      if (stored.type !== "model-call-end") continue;
      const key = started.get(stored["callId"]);
      started.delete(stored["callId"]);
      if (key !== undefined) ends.set(key, line);
    }
    return ends;
  }

  async *#read(lines: LogLines, decoder: EventDecoder): AsyncGenerator<RecordedEvent, void, void> {
    for await (const { text, offset, bytes } of lines.read()) {
      const event = text === null ? undefined : decoder.read(text, { offset, bytes });
      if (event === undefined) this.damagedLines += 1;
      else yield event;
    }
  }

  /** The folder exists a moment before the file. Undefined: the file did not appear. */
  async #awaitEvents(signal?: AbortSignal): Promise<FileHandle | undefined> {
    for (let attempt = 0; attempt < MAX_OPEN_ATTEMPTS; attempt += 1) {
      signal?.throwIfAborted();
      try {
        return await this.#folder.openEvents();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
        await sleep(POLL_MS);
      }
    }
    return undefined;
  }

  async #isOver(): Promise<boolean> {
    const summary = await this.summary();
    return summary === undefined ? !(await this.#folder.isStarting()) : summary.status !== "running";
  }
}

export class EventReader implements AsyncDisposable {
  readonly #folder: RunFolder;
  readonly #file: FileHandle;

  constructor(folder: RunFolder, file: FileHandle) {
    this.#folder = folder;
    this.#file = file;
  }

  /** The event of a line that was read before. Its `whole` fails where it refers to messages of earlier calls. */
  async eventAt(line: LineSpan): Promise<RecordedEvent> {
    const data = Buffer.alloc(Math.min(line.bytes, MAX_LINE_BYTES));
    await this.#file.read(data, 0, data.length, line.offset);
    const event = new EventDecoder(this.#folder).read(data.toString("utf8"), line);
    if (event === undefined) throw new Error(`Cannot read run '${this.#folder.id}': its log has changed`);
    return event;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

function toKey({ nodeId, step, ordinal, requestHash }: CallKey): string {
  return JSON.stringify([nodeId, step, ordinal, requestHash]);
}
