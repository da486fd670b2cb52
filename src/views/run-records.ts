// What is recorded of a run, for those who look at it: its outline, and events and long texts by reference.

import { FileError } from "../errors.ts";
import type { RunEventPage, RunSearchAnswer, StoredRunEvent } from "../protocol/run-outline/run-outline.ts";
import type { Runtime } from "../runtime.ts";
import { readEventPage, type EventRange } from "../store/runs/indexed/event-page.ts";
import type { IndexedRun } from "../store/runs/indexed/indexed-run.ts";
import type { RecordedRun } from "../store/runs/run-log-reader.ts";
import { searchRun as search, type RunSearchRequest } from "../store/runs/search/run-search.ts";
import { findRecord } from "./runs.ts";

/** With its outline, up to date. Throws RunNotFoundError when it is not recorded. */
export async function indexRun(runtime: Runtime, id: string): Promise<IndexedRun> {
  await findRecord(runtime, id);
  return runtime.indexedRuns.open(id);
}

export async function readEvents(run: IndexedRun, range: EventRange): Promise<RunEventPage> {
  const { lines, next } = await readEventPage(run, range);
  return { events: lines.map((line) => JSON.parse(line) as StoredRunEvent), next };
}

/** Waits while many others search. Throws RunNotFoundError, and the reason of the signal. */
export async function searchRun(
  runtime: Runtime,
  id: string,
  text: string,
  request: RunSearchRequest,
): Promise<RunSearchAnswer> {
  const run = await indexRun(runtime, id);
  await runtime.searches.acquire(request.signal);
  try {
    return await search(run, text, request);
  } finally {
    runtime.searches.release();
  }
}

/** Throws a FileError where there is none. */
export async function readBlob(run: RecordedRun, hash: string): Promise<Buffer> {
  try {
    return await run.blob(hash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new FileError({ action: "read blob", path: hash, reason: "not-found", why: "the run has none" });
  }
}
