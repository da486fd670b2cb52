// Runs as callers see them: those of this process from memory, all others from their records.

import { setTimeout as delay } from "node:timers/promises";
import { RunNotFoundError } from "../errors.ts";
import type { RunInfo, RunResult, RunView } from "../protocol/runs.ts";
import type { Runtime } from "../runtime.ts";
import { listRuns as listRecorded } from "../store/runs/recorded-runs.ts";
import { TextPattern } from "../store/runs/search/text-pattern.ts";
import { readRun, type RecordedRun } from "../store/runs/run-log-reader.ts";
import type { Run } from "../rlm/run.ts";
import type { Page } from "../api/page.ts";
import type { RunListOptions } from "../api/run.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toPage, type Position } from "./page.ts";
import type { RunSummary } from "../store/runs/run-folder.ts";

const MAX_QUERY = 2000;
/** A run that has just started is on disk by then. */
const RECORDING_ATTEMPTS = 20;
const RECORDING_MS = 50;
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

/** Its record, of which it may still be the writer. Throws RunNotFoundError when it is not recorded. */
export async function findRecord(runtime: Runtime, id: string): Promise<RecordedRun> {
  const live = runtime.runs.get(id);
  if (live?.endedAt !== undefined) await runtime.runs.settled(id);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await findRecorded(id);
    } catch (error) {
      if (live === undefined || !(error instanceof RunNotFoundError)) throw error;
      if (live.endedAt !== undefined || attempt >= RECORDING_ATTEMPTS)
        throw new RunNotFoundError({ runId: id, why: live.notRecorded ?? "it is not recorded" });
      await delay(RECORDING_MS);
    }
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
  { status, text, ...page }: RunListOptions,
): Promise<Page<RunInfo> & { readonly total: number }> {
  const byId = new Map<string, RunInfo>();
  for (const summary of await listRecorded()) byId.set(summary.id, fromSummary(summary));
  for (const run of runtime.runs.list()) {
    const { result: _, ...info } = describeLive(run);
    byId.set(run.id, info);
  }
  const pattern = text === undefined ? undefined : new TextPattern(text);
  const all = [...byId.values()].filter(
    (info) => info.status === (status ?? info.status) && pattern?.isIn(info.query) !== false,
  );
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
export async function resultIn(recorded: RecordedRun): Promise<RunResult | undefined> {
  const whole = await (await recorded.end())?.whole().catch(() => undefined); // damaged
  return whole?.type === "run-end" ? whole.result : undefined;
}

function toTime(time: number): string {
  return new Date(time).toISOString();
}
