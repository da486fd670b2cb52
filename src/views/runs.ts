// Runs as callers see them: those of this process from memory, all others from their records.

import { RunNotFoundError } from "../errors.ts";
import type { RunInfo, RunResult, RunView } from "../protocol/runs.ts";
import type { Runtime } from "../runtime.ts";
import { listRuns as listRecorded } from "../store/runs/recorded-runs.ts";
import { readRun, type RecordedRun } from "../store/runs/run-log-reader.ts";
import type { Run } from "../rlm/run.ts";
import type { Page, PageOptions } from "../api/page.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toPage, type Position } from "./page.ts";
import type { RunSummary } from "../store/runs/run-folder.ts";

const MAX_QUERY = 2000;
const GONE = "it does not exist, or its record is no longer kept";

/** Throws RunNotFoundError when the run is neither in memory nor recorded. */
export async function findRun(runtime: Runtime, id: string): Promise<Run | RecordedRun> {
  return runtime.runs.get(id) ?? (await findRecorded(id));
}

/** Throws RunNotFoundError. */
export async function findRecorded(id: string): Promise<RecordedRun> {
  try {
    return await readRun(id);
  } catch (error) {
    if (!(error instanceof RunNotFoundError)) throw error;
    throw new RunNotFoundError({ runId: id, why: GONE }); // without the folder of this machine
  }
}

export function isRecorded(found: Run | RecordedRun): found is RecordedRun {
  return "damagedLines" in found;
}

export async function describeRun(found: Run | RecordedRun): Promise<RunView> {
  if (!isRecorded(found)) return describeLive(found);
  const summary = await found.summary();
  if (summary === undefined) {
    throw new RunNotFoundError({ runId: found.id, why: "its record is damaged, or it has only begun" });
  }
  const info = fromSummary(summary);
  return { ...info, result: summary.ended === null ? null : ((await resultIn(found)) ?? null) };
}

/** The latest first. Throws a RangeError for a cursor that is none. */
export async function listRuns(
  runtime: Runtime,
  page: PageOptions,
): Promise<Page<RunInfo> & { readonly total: number }> {
  const byId = new Map<string, RunInfo>();
  for (const summary of await listRecorded()) byId.set(summary.id, fromSummary(summary));
  for (const run of runtime.runs.list()) {
    const { result: _, ...info } = describeLive(run);
    byId.set(run.id, info);
  }
  const all = [...byId.values()];
  const positionOf = ({ startedAt, id }: RunInfo): Position => [Date.parse(startedAt), id];
  return { ...toPage(all, { ...page, positionOf, isDescending: true }), total: all.length };
}

function describeLive(run: Run): RunView {
  const { id, startedAt, endedAt, settings } = run;
  const { query, model, subModel } = settings;
  const { outcome: result } = run;
  const unrecorded = omitUndefined({ notRecorded: run.notRecorded });
  const about = { id, query: query.slice(0, MAX_QUERY), model, subModel, startedAt: toTime(startedAt), ...unrecorded };
  if (endedAt === undefined || result === undefined) {
    return { ...about, status: "running", stopReason: null, endedAt: null, wallMs: null, usage: null, result: null };
  }
  const { status, stopReason, usage } = result;
  const { wallMs, total } = usage;
  return { ...about, status, stopReason, endedAt: toTime(endedAt), wallMs, usage: total, result };
}

function fromSummary(summary: RunSummary): RunInfo {
  const { id, query, model, subModel, status, stopReason, started, ended, wallMs, usage } = summary;
  const times = { startedAt: toTime(started), endedAt: ended === null ? null : toTime(ended) };
  return { id, query, model, subModel, status, stopReason, ...times, wallMs, usage };
}

/** Undefined: it has none, or it is damaged. */
async function resultIn(recorded: RecordedRun): Promise<RunResult | undefined> {
  for await (const event of recorded.events()) {
    if (event.stored.type !== "run-end") continue;
    const whole = await event.whole().catch(() => undefined); // damaged
    return whole?.type === "run-end" ? whole.result : undefined;
  }
  return undefined;
}

function toTime(time: number): string {
  return new Date(time).toISOString();
}
