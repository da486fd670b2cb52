// Finds processes by their command line.

import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

/** A number of seconds that identifies the test's sleep processes. */
export function uniqueSleep(): string {
  return `31337.${randomInt(1e9, 1e10)}`;
}

export function countProcesses(marker: string): number {
  return findProcesses(marker).length;
}

/** Their process ids. */
export function findProcesses(marker: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isSleep(name, marker))
    .map(Number);
}

/** Whether the process runs; a zombie does not count. */
export function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function isSleep(pid: string, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${marker}\0`;
  } catch {
    return false; // it has ended
  }
}

/** The ids of all processes below this one. */
export function descendantsOf(pid: number): string[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [name, parentOf(name)] as const);
  const below = (parent: string): string[] =>
    parents.flatMap(([child, itsParent]) => (itsParent === parent ? [child, ...below(child)] : []));
  return below(String(pid));
}

function parentOf(pid: string): string | undefined {
  try {
    return /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  } catch {
    return undefined; // it has ended
  }
}
