// All recorded runs: which there are, and which have to go.

import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { RunNotFoundError } from "../../errors.ts";
import type { RunId } from "../../protocol/ids.ts";
import { RunFolder, type RunSummary } from "./run-folder.ts";
import type { RunsOptions } from "./run-log-reader.ts";
import { BEGINNING_MS, isRunId, runsFolder } from "./run-log-format.ts";

const KEPT_RUNS = 200;
const KEPT_BYTES = 2 * 1024 ** 3;
/** What is being removed; the rest of it is, if whoever did it was stopped. */
const REMOVED = ".removed-";
const NAMED = 5;

/** The latest first. What is no run is left out. */
export async function listRuns({ folder = runsFolder() }: RunsOptions = {}): Promise<readonly RunSummary[]> {
  const summaries: RunSummary[] = [];
  for (const name of await namesIn(folder)) {
    const summary = await summaryOf(folder, name);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries.sort((a, b) => b.started - a.started || (a.id < b.id ? 1 : -1));
}

/** The one whose id this is, or begins so. Throws RunNotFoundError. */
export async function findRun(prefix: string, { folder = runsFolder() }: RunsOptions = {}): Promise<RunId> {
  const names = await namesIn(folder);
  const found = names.includes(prefix) ? [prefix] : names.filter((name) => prefix !== "" && name.startsWith(prefix));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only as RunId;
  const why =
    only === undefined
      ? `there is none in '${folder}'`
      : `${found.length} begin so: ${found.slice(0, NAMED).join(", ")}${found.length > NAMED ? ", ..." : ""}`;
  throw new RunNotFoundError({ runId: prefix, why });
}

export interface PruneOptions extends RunsOptions {
  /** How many runs are kept. Default: 200. */
  readonly keep?: number;
  /** What they may take on disk, in all. Default: 2 GiB. */
  readonly maxBytes?: number;
}

/**
 * Removes the oldest runs, until the rest is within both bounds; never one that goes on, nor the latest. Answers with the ids of
 * those removed.
 */
export async function pruneRuns(options: PruneOptions = {}): Promise<readonly RunId[]> {
  const { folder = runsFolder(), keep = KEPT_RUNS, maxBytes = KEPT_BYTES } = options;
  const runs: { readonly id: string; readonly started: number; readonly bytes: number; readonly isRunning: boolean }[] =
    [];
  for (const id of await namesIn(folder)) {
    const summary = await summaryOf(folder, id);
    const stat = await lstat(join(folder, id)).catch(() => undefined);
    if (stat?.isDirectory() !== true) continue;
    const isBeginning = summary === undefined && Date.now() - stat.mtimeMs < BEGINNING_MS;
    runs.push({
      id,
      started: summary?.started ?? stat.mtimeMs,
      bytes: summary?.bytes ?? (await sizeOf(join(folder, id))),
      isRunning: summary?.status === "running" || isBeginning,
    });
  }
  runs.sort((a, b) => b.started - a.started);
  let bytes = 0;
  const removed: RunId[] = [];
  for (const [at, run] of runs.entries()) {
    bytes += run.bytes;
    const isKept = at === 0 || run.isRunning || (at < keep && bytes <= maxBytes);
    if (!isKept && (await remove(folder, run.id))) removed.push(run.id as RunId);
  }
  await removeRests(folder);
  return removed;
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter(isRunId);
}

async function summaryOf(folder: string, id: string): Promise<RunSummary | undefined> {
  try {
    return await (await RunFolder.open(folder, id)).summary();
  } catch {
    return undefined;
  }
}

/** Of what is in a folder and in the folders there; links are not followed. */
async function sizeOf(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await sizeOf(path);
    else sum += (await lstat(path).catch(() => undefined))?.size ?? 0;
  }
  return sum;
}

/** Gone for everybody at once, from disk a little later. */
async function remove(folder: string, id: string): Promise<boolean> {
  const away = join(folder, `${REMOVED}${id}`);
  try {
    await rename(join(folder, id), away);
    await rm(away, { recursive: true, force: true });
    return true;
  } catch {
    return false; // somebody else does it, or nobody can
  }
}

async function removeRests(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [] as string[]))
    if (name.startsWith(REMOVED)) await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
}
