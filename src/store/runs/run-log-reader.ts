// Recorded runs, read: those that have ended, those that broke, and those that go on.
//
// A log is read a line at a time, whatever its size. The last line may be torn; what is damaged is passed over and counted.

import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunId } from "../../protocol/ids.ts";
import type { ModelCallEnd } from "../../protocol/runs.ts";
import { EventDecoder, type RecordedEvent } from "./event-decoder.ts";
import { LogLines } from "./log-lines.ts";
import { RunFolder, type RunSummary } from "./run-folder.ts";
import { MAX_LINE_BYTES, runsFolder, type RecordedContext } from "./run-log-format.ts";

const POLL_MS = 100;
const MAX_CALLS = 1_000_000;

export interface RunsOptions {
  /** Where the folders of runs are. Default: `runs` in the data folder. */
  readonly folder?: string;
}

export interface FollowOptions extends RunsOptions {
  readonly signal?: AbortSignal;
}

/** By what a call of a model is found again. */
export interface CallKey {
  readonly nodeId: string;
  readonly turn: number;
  readonly ordinal: number;
  readonly requestHash: string;
}

/** Throws RunNotFoundError. */
export async function readRun(id: string, { folder = runsFolder() }: RunsOptions = {}): Promise<RecordedRun> {
  return new RecordedRun(await RunFolder.open(folder, id));
}

/** What is recorded, and then what is being recorded, until the run has ended or whoever ran it is gone. Throws RunNotFoundError. */
export async function* followRun(id: string, options: FollowOptions = {}): AsyncGenerator<RecordedEvent, void, void> {
  const run = await readRun(id, options);
  yield* run.follow(options.signal);
}

export class RecordedRun {
  /** Lines that were passed over so far, because they are no events. */
  damagedLines = 0;
  readonly #folder: RunFolder;
  #calls: Map<string, RecordedEvent["line"]> | undefined;

  constructor(folder: RunFolder) {
    this.#folder = folder;
  }

  get id(): RunId {
    return this.#folder.id;
  }

  /** Undefined where `meta.json` is not there yet, or damaged. */
  async summary(): Promise<RunSummary | undefined> {
    return this.#folder.summary();
  }

  async contexts(): Promise<readonly RecordedContext[]> {
    return this.#folder.contexts();
  }

  /** The bytes of a context, a piece at a time. Throws where they were not kept. */
  async *readContext({ name, chunks }: RecordedContext): AsyncGenerator<Buffer, void, void> {
    if (chunks === null) throw new Error(`Cannot read context '${name}' of run '${this.id}': it was not kept`);
    for (const digest of chunks) yield await this.#folder.blob(digest);
  }

  /** What a reference `$blob` stands for. Throws where it is not there, or is not what its name says. */
  async blob(digest: string): Promise<Buffer> {
    return this.#folder.blob(digest);
  }

  /** Those that are recorded by now. */
  async *events(): AsyncGenerator<RecordedEvent, void, void> {
    const file = await this.#folder.openEvents();
    try {
      yield* this.#read(new LogLines(file, MAX_LINE_BYTES), new EventDecoder(this.#folder));
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
        const isOver = await this.#isOver(); // before reading: what was written until then is read
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

  /** For reading events again, in any order. */
  async openPlaces(): Promise<EventPlaces> {
    return new EventPlaces(this.#folder, await this.#folder.openEvents());
  }

  /** How a call of a model ended; undefined where it is not there, or has no end. The first one reads the log, the others do not. */
  async findCall({ nodeId, turn, ordinal, requestHash }: CallKey): Promise<ModelCallEnd | undefined> {
    this.#calls ??= await this.#indexCalls();
    const line = this.#calls.get(toKey({ nodeId, turn, ordinal, requestHash }));
    if (line === undefined) return undefined;
    await using places = await this.openPlaces();
    const event = await (await places.eventAt(line)).whole();
    return event.type === "model-call-end" ? event : undefined;
  }

  /** Of the first million calls. */
  async #indexCalls(): Promise<Map<string, RecordedEvent["line"]>> {
    const [ends, started] = [new Map<string, RecordedEvent["line"]>(), new Map<unknown, string>()];
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

  /** A folder is there a moment before what is in it. Undefined: it is not going to be. */
  async #awaitEvents(signal?: AbortSignal): Promise<FileHandle | undefined> {
    for (let tries = 0; tries < 10; tries += 1) {
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
    return summary === undefined ? !(await this.#folder.isBeginning()) : summary.status !== "running";
  }
}

export class EventPlaces implements AsyncDisposable {
  readonly #folder: RunFolder;
  readonly #file: FileHandle;

  constructor(folder: RunFolder, file: FileHandle) {
    this.#folder = folder;
    this.#file = file;
  }

  /** What was read there before; messages of earlier calls are not known then. */
  async eventAt(line: RecordedEvent["line"]): Promise<RecordedEvent> {
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

function toKey({ nodeId, turn, ordinal, requestHash }: CallKey): string {
  return JSON.stringify([nodeId, turn, ordinal, requestHash]);
}
