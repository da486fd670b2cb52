// Processes outside the sandbox, read from /proc.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";

const PATIENCE_MS = 20_000;

export const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

function processes(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Living processes with exactly this argument on their command line. */
export function processesWith(argument: string): number[] {
  return processes().filter((pid) => {
    const status = read(`/proc/${pid}/stat`);
    return !/\) [ZX] /.test(status) && read(`/proc/${pid}/cmdline`).split("\0").includes(argument);
  });
}

/** Processes that have a file of this name open. Others' are seen by root only. */
export function processesHolding(fileName: string): number[] {
  return processes().filter((pid) => openFilesOf(pid).some((path) => basename(path) === fileName));
}

function openFilesOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return orNothing(() => readdirSync(folder)).flatMap((name) => orNothing(() => [readlinkSync(join(folder, name))]));
}

/** What is read has ended meanwhile, or is another user's: nothing. */
function orNothing(look: () => readonly string[]): readonly string[] {
  try {
    return look();
  } catch {
    return [];
  }
}

export function childrenOf(parent: number): number[] {
  return processes().filter((pid) => parentOf(pid) === parent);
}

export function descendantsOf(ancestor: number): number[] {
  const parents = new Map(processes().map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (pid === ancestor || isBelow(parents.get(pid)));
  return [...parents.keys()].filter((pid) => pid !== ancestor && isBelow(pid));
}

/** Memory of processes, shared pages counted once, in bytes. */
export function proportionalBytes(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0));
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024;
}

/** Polls until the condition holds. Only for what sends no event, such as the end of an unrelated process. */
export async function comesTrue(condition: () => boolean, patienceMs = PATIENCE_MS): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}

export function isAlive(pid: number): boolean {
  const status = read(`/proc/${pid}/stat`);
  return status !== "" && !/\) [ZX] /.test(status);
}

export function parentOf(pid: number): number | undefined {
  const fields = /\) \S (\d+)/.exec(read(`/proc/${pid}/stat`));
  return fields === null ? undefined : Number(fields[1]);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}
