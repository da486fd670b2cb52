// A run as the SDK gives it: live, or read from its record.

import {
  checkBlobHash,
  checkRunEventPageOptions,
  checkRunFollowOptions,
  checkRunSearch,
} from "../api/checks/check-calls.ts";
import type { Run, RunEventPageOptions, RunFollowOptions, RunResult, RunSearchOptions } from "../api/run.ts";
import { RunNotFoundError } from "../errors.ts";
import type { RunId } from "../protocol/ids.ts";
import { parseRunEvent, type RunEvent } from "../protocol/run-events.ts";
import type { RunEventPage, RunOutline, RunSearchAnswer } from "../protocol/run-outline/run-outline.ts";
import type { RunInfo } from "../protocol/runs.ts";
import type { Run as LiveRun } from "../rlm/run.ts";
import type { Runtime } from "../runtime.ts";
import type { IndexedRun } from "../store/runs/indexed/indexed-run.ts";
import type { EventRange } from "../store/runs/indexed/event-page.ts";
import type { RecordedRun } from "../store/runs/run-log-reader.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { describeRun, findRecord, isRecorded, resultIn } from "../views/runs.ts";
import { indexRun, readBlob, readEvents, searchRun } from "../views/run-records.ts";
import { toPlainBytes } from "./plain-bytes.ts";
import { innerOf, Work, type Started } from "./work.ts";

export class SDKRun<Data> extends Work<RunSource, RunResult<Data>, RunEvent> implements Run<Data> {
  readonly id: RunId;
  readonly #runtime: Runtime;

  constructor(id: RunId, runtime: Runtime, inner: RunSource | Promise<RunSource>) {
    super(inner);
    this.id = id;
    this.#runtime = runtime;
  }

  get [Symbol.toStringTag](): string {
    return "Run";
  }

  async info(): Promise<RunInfo> {
    const { result: _, ...info } = await describeRun((await innerOf(this)).run);
    return info;
  }

  async outline(): Promise<RunOutline> {
    return (await this.#index()).outline;
  }

  eventPage(options: RunEventPageOptions = {}): Promise<RunEventPage> {
    checkRunEventPageOptions(options);
    return this.#eventPage(omitUndefined(options));
  }

  search(text: string, options: RunSearchOptions = {}): Promise<RunSearchAnswer> {
    checkRunSearch(text, options);
    return this.#search(text, options);
  }

  follow(options: RunFollowOptions = {}): AsyncIterable<RunEvent> {
    checkRunFollowOptions(options);
    return this.#follow(options);
  }

  blob(hash: string): Promise<Uint8Array> {
    checkBlobHash(hash);
    return this.#blob(hash);
  }

  async cancel(): Promise<void> {
    const { run } = await innerOf(this);
    if (!isRecorded(run)) run.cancel();
  }

  async #eventPage(range: EventRange): Promise<RunEventPage> {
    return readEvents(await this.#index(), range);
  }

  async #search(text: string, { signal, ...range }: RunSearchOptions): Promise<RunSearchAnswer> {
    signal?.throwIfAborted();
    await innerOf(this);
    return searchRun(this.#runtime, this.id, text, omitUndefined({ ...range, signal }));
  }

  async *#follow({ after = 0, signal }: RunFollowOptions): AsyncGenerator<RunEvent, void, undefined> {
    signal?.throwIfAborted();
    const { run } = await innerOf(this);
    if (isRecorded(run)) return yield* readWhole(run, after, signal);
    for await (const { event } of run.follow(omitUndefined({ after: String(after), signal }))) yield event;
    signal?.throwIfAborted();
  }

  async #blob(hash: string): Promise<Uint8Array> {
    await innerOf(this);
    return toPlainBytes(await readBlob(await findRecord(this.#runtime, this.id), hash));
  }

  async #index(): Promise<IndexedRun> {
    await innerOf(this);
    return indexRun(this.#runtime, this.id);
  }
}

/** Where the result and the events of a run come from. */
export interface RunSource extends Started<RunResult<never>, RunEvent> {
  readonly run: LiveRun | RecordedRun;
}

export function toSource(run: LiveRun | RecordedRun): RunSource {
  return isRecorded(run) ? new RecordedSource(run) : new LiveSource(run);
}

class LiveSource implements RunSource {
  readonly run: LiveRun;

  constructor(run: LiveRun) {
    this.run = run;
  }

  get result(): Promise<RunResult<never>> {
    return this.run.result as Promise<RunResult<never>>;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.run[Symbol.asyncIterator]();
  }
}

/** A run of another process, or one that is no longer in memory. */
class RecordedSource implements RunSource {
  readonly run: RecordedRun;

  constructor(run: RecordedRun) {
    this.run = run;
  }

  get result(): Promise<RunResult<never>> {
    return this.#result();
  }

  /** Waits for the end of a run that another process has in progress. */
  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    yield* readWhole(this.run, 0);
  }

  async #result(): Promise<RunResult<never>> {
    const recorded = await resultIn(this.run);
    if (recorded !== undefined) return recorded as RunResult<never>;
    for await (const event of this) if (event.type === "run-end") return event.result as RunResult<never>;
    throw new RunNotFoundError({ runId: this.run.id, why: "it broke off, and its record has no result" });
  }
}

/** Damaged events are left out. */
async function* readWhole(
  run: RecordedRun,
  after: number,
  signal?: AbortSignal,
): AsyncGenerator<RunEvent, void, undefined> {
  try {
    for await (const event of run.follow(signal)) {
      if (Number(event.stored["seq"]) <= after) continue;
      const whole = parseRunEvent(await event.whole().catch(() => null));
      if (whole !== null) yield whole;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
