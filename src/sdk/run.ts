// A run as the SDK gives it: live, or read from its record.

import type { Run, RunResult } from "../api/run.ts";
import { RunNotFoundError } from "../errors.ts";
import type { RunId } from "../protocol/ids.ts";
import { parseRunEvent, type RunEvent } from "../protocol/run-events.ts";
import type { RunInfo } from "../protocol/runs.ts";
import type { Run as LiveRun } from "../rlm/run.ts";
import { describeRun, isRecorded } from "../views/runs.ts";
import type { RecordedRun } from "../store/runs/run-log-reader.ts";
import { innerOf, Work, type Started } from "./work.ts";

export class SDKRun<Data> extends Work<RunSource, RunResult<Data>, RunEvent> implements Run<Data> {
  readonly id: RunId;

  constructor(id: RunId, inner: RunSource | Promise<RunSource>) {
    super(inner);
    this.id = id;
  }

  get [Symbol.toStringTag](): string {
    return "Run";
  }

  async info(): Promise<RunInfo> {
    const { result: _, ...info } = await describeRun((await innerOf(this)).run);
    return info;
  }

  async cancel(): Promise<void> {
    const { run } = await innerOf(this);
    if (!isRecorded(run)) run.cancel();
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
    const reading = new AbortController();
    try {
      for await (const event of this.run.follow(reading.signal)) {
        const whole = parseRunEvent(await event.whole().catch(() => null)); // damaged
        if (whole !== null) yield whole;
      }
    } finally {
      reading.abort();
    }
  }

  async #result(): Promise<RunResult<never>> {
    for await (const event of this) if (event.type === "run-end") return event.result as RunResult<never>;
    throw new RunNotFoundError({ runId: this.run.id, why: "it broke off, and its record has no result" });
  }
}
