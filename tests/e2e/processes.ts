// Processes of this machine, found by what their command line says.

import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

/** A number of seconds that no other process sleeps for. */
export function uniqueSleep(): string {
  return `31337.${randomInt(1e9, 1e10)}`;
}

export function countProcesses(marker: string): number {
  return findProcesses(marker).length;
}

/** Their numbers. */
export function findProcesses(marker: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isSleep(name, marker))
    .map(Number);
}

/** Whether there is such a process; one that has ended and that nobody has asked for yet is none. */
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
