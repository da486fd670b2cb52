// All recorded runs: listed, found by id, and pruned.

import { existsSync } from "node:fs";
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { RunNotFoundError } from "../../errors.ts";
import type { RunId } from "../../protocol/ids.ts";
import { RunFolder, type RunSummary } from "./run-folder.ts";
import type { RunsOptions } from "./run-log-reader.ts";
import { STARTING_MS, isRunId, runsFolder } from "./run-log-format.ts";

const KEPT_RUNS = 200;
const KEPT_BYTES = 2 * 1024 ** 3;
/** Prefix of a run that is being removed. Leftovers of an interrupted removal are removed later. */
const REMOVED = ".removed-";
const NAMED = 5;

/** The latest first. Folders that are no runs are left out. */
export async function listRuns({ folder = runsFolder() }: RunsOptions = {}): Promise<readonly RunSummary[]> {
  const summaries: RunSummary[] = [];
  for (const name of await namesIn(folder)) {
    const summary = await summaryOf(folder, name);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries.sort((a, b) => b.started - a.started || (a.id < b.id ? 1 : -1));
}

/** Whether a run of this id was recorded: its folder exists. */
export function isRecorded(id: string, { folder = runsFolder() }: RunsOptions = {}): boolean {
  return isRunId(id) && existsSync(join(folder, id));
}

/** Finds a run by its id or an unambiguous prefix. Throws RunNotFoundError. */
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
  /** Their total size on disk. Default: 2 GiB. */
  readonly maxBytes?: number;
}

/**
 * Removes the oldest runs until the rest is within both limits; never one in progress, nor the latest. Returns the ids of the removed
 * runs.
 */
export async function pruneRuns(options: PruneOptions = {}): Promise<readonly RunId[]> {
  const { folder = runsFolder(), keep = KEPT_RUNS, maxBytes = KEPT_BYTES } = options;
  const runs: { readonly id: string; readonly started: number; readonly bytes: number; readonly isRunning: boolean }[] =
    [];
  for (const id of await namesIn(folder)) {
    const summary = await summaryOf(folder, id);
    const stat = await lstat(join(folder, id)).catch(() => undefined);
    if (stat?.isDirectory() !== true) continue;
    const isStarting = summary === undefined && Date.now() - stat.mtimeMs < STARTING_MS;
    runs.push({
      id,
      started: summary?.started ?? stat.mtimeMs,
      bytes: summary?.bytes ?? (await sizeOf(join(folder, id))),
      isRunning: summary?.status === "running" || isStarting,
    });
  }
  runs.sort((a, b) => b.started - a.started);
  let bytes = 0;
  const removed: RunId[] = [];
  for (const [index, run] of runs.entries()) {
    bytes += run.bytes;
    const isKept = index === 0 || run.isRunning || (index < keep && bytes <= maxBytes);
    if (!isKept && (await remove(folder, run.id))) removed.push(run.id as RunId);
  }
  await removeLeftovers(folder);
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

/** Of a folder with its subfolders; links are not followed. */
async function sizeOf(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await sizeOf(path);
    else sum += (await lstat(path).catch(() => undefined))?.size ?? 0;
  }
  return sum;
}

/** Hides the run at once by renaming it, then deletes it. */
async function remove(folder: string, id: string): Promise<boolean> {
  const away = join(folder, `${REMOVED}${id}`);
  try {
    await rename(join(folder, id), away);
    await rm(away, { recursive: true, force: true });
    return true;
  } catch {
    return false; // removed by another process, or not permitted
  }
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [] as string[]))
    if (name.startsWith(REMOVED)) await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
}
