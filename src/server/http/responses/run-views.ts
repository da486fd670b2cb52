// Runs as clients see them: those of this process from memory, all others from their records.

import { RunNotFoundError } from "../../../errors.ts";
import type { RunInfo, RunList, RunResult, RunView } from "../../../protocol/runs.ts";
import { type Runtime } from "../../../runtime.ts";
import { listRuns } from "../../../store/runs/recorded-runs.ts";
import { readRun, type RecordedRun } from "../../../store/runs/run-log-reader.ts";
import type { Run } from "../../../rlm/run.ts";
import type { RunSummary } from "../../../store/runs/run-folder.ts";
import { ProblemError } from "../../net/problem.ts";

const MAX_QUERY = 2000;

/** Throws a ProblemError when the run is neither in memory nor recorded. */
export async function findRun(runtime: Runtime, id: string): Promise<Run | RecordedRun> {
  return runtime.runs.get(id) ?? (await findRecorded(id));
}

/** Throws a ProblemError when it is not recorded. */
export async function findRecorded(id: string): Promise<RecordedRun> {
  try {
    return await readRun(id);
  } catch (error) {
    if (!(error instanceof RunNotFoundError)) throw error;
    throw new ProblemError({ status: 404, code: error.code, detail: `There is no run '${id.slice(0, 100)}'` });
  }
}

export function isRecorded(found: Run | RecordedRun): found is RecordedRun {
  return "damagedLines" in found;
}

export async function describeRun(found: Run | RecordedRun): Promise<RunView> {
  if (!isRecorded(found)) return describeLive(found);
  const summary = await found.summary();
  if (summary === undefined) {
    const detail = `Nothing is known of run '${found.id}': its record is damaged, or it has only begun`;
    throw new ProblemError({ status: 404, code: "RUN_NOT_FOUND", detail });
  }
  const info = fromSummary(summary);
  return { ...info, result: summary.ended === null ? null : ((await resultIn(found)) ?? null) };
}

/** The latest first. */
export async function listAll(runtime: Runtime, limit: number): Promise<RunList> {
  const byId = new Map<string, RunInfo>();
  for (const summary of await listRuns()) byId.set(summary.id, fromSummary(summary));
  for (const run of runtime.runs.list()) {
    const { result: _, ...info } = await describeLive(run);
    byId.set(run.id, info);
  }
  const runs = [...byId.values()].toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
  return { runs: runs.slice(0, limit), total: runs.length };
}

async function describeLive(run: Run): Promise<RunView> {
  const { id, startedAt, endedAt, settings } = run;
  const { query, model, subModel } = settings;
  const result = endedAt === undefined ? undefined : await run.result.catch(() => undefined);
  const about = { id, query: query.slice(0, MAX_QUERY), model, subModel, startedAt: toTime(startedAt) };
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
