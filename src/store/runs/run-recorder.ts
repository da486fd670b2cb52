// Records runs while they go on, one log each, and prunes old logs from time to time.

import type { RunId } from "../../protocol/ids.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type { ContextSource } from "./context-recording.ts";
import { pruneRuns } from "./recorded-runs.ts";
import { RunLogWriter } from "./run-log.ts";

interface RecordableRun {
  readonly id: RunId;
  readonly result: Promise<unknown>;
  /** Set to the reason if it cannot be recorded, or only in part. */
  notRecorded: string | undefined;
}

/** A variable of the root session. Only texts and single files are kept in the log. */
interface RecordableContext {
  readonly name: string;
  readonly value: object;
}

interface FileContext {
  readonly file: string;
  readonly range?: { readonly offset: number; readonly length: number };
}

function toSource({ file: path, range }: FileContext): ContextSource {
  return range === undefined ? { path } : { path, range };
}

/** Pruning reads every log that exists, so it is not done for every run. */
const PRUNE_EVERY = 50;

export class RunRecorder {
  readonly #writers = new Map<RunId, RunLogWriter>();
  #recorded = 0;

  /** Resolves when the run has ended and its log is complete. Call it before the first event of the run. */
  async record(run: RecordableRun, contexts: readonly RecordableContext[], secrets: readonly string[]): Promise<void> {
    const onProblem = (why: string): void => {
      run.notRecorded ??= why;
    };
    const writer = new RunLogWriter(run.id, { secrets, onProblem });
    this.#writers.set(run.id, writer);
    if (this.#recorded % PRUNE_EVERY === 0) void pruneRuns().catch(() => {}); // the run does not depend on it
    this.#recorded += 1;
    for (const { name, value } of contexts) {
      if ("text" in value) await writer.recordContext(name, { bytes: Buffer.from(String(value.text)) });
      else if ("file" in value) await writer.recordContext(name, toSource(value as FileContext));
    }
    await run.result.catch(() => {});
    await writer.close();
    this.#writers.delete(run.id);
  }

  /** Does nothing for a run that is not recorded. */
  write(runId: RunId, event: RunEvent): void {
    this.#writers.get(runId)?.write(event);
  }
}
