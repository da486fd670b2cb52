// How many files this process may have open: every connection is one, and so is much of a session.

import { readFileSync } from "node:fs";

/** Connections may have so much of it. */
const SHARE = 0.75;

/** As many connections as leave room for sessions; `most` where the system allows it. */
export function connectionsWithin(most: number, limit: number = openFileLimit()): number {
  return Math.min(most, Math.floor(limit * SHARE));
}

/** Node has raised it as far as it may. Infinity: the system does not tell. */
function openFileLimit(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    return Number(/^Max open files +(?<soft>\d+)/m.exec(limits)?.groups?.["soft"] ?? Infinity);
  } catch {
    return Infinity;
  }
}
