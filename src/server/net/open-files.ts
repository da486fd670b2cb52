// How many files this process may have open: every connection is one, and so is much of a session. Where the system allows few, there are
// fewer of both, so that neither can take what the other needs.

import { readFileSync } from "node:fs";
import type { Limits } from "../../session/options.ts";

export interface OpenFiles extends Pick<Limits, "sessions" | "tasks"> {
  readonly connections: number;
}

/** With less there would be hardly a session. */
const LEAST = 128;
/** Of the process itself, sandboxes in waiting, files on their way, and what comes and goes. */
const BASE = 80;
/** The pipes of a worker, and those of a command. */
const PER_SESSION = 7;
/** Of what is left, sessions may have so much. */
const SESSIONS_SHARE = 0.75;

/** As many of each as fit: what was wanted, where the system allows it. Throws an error that says what to do where next to none would. */
export function planOpenFiles(wanted: OpenFiles, limit: number = openFileLimit()): OpenFiles {
  if (limit < LEAST) {
    throw new Error(
      `cannot serve with a limit of ${limit} open files: at least ${LEAST} are needed. Raise it with 'ulimit -n 4096'`,
    );
  }
  const left = limit - BASE;
  const sessions = Math.min(wanted.sessions, Math.floor((left * SESSIONS_SHARE) / PER_SESSION));
  const tasks = sessions < wanted.sessions ? Math.min(wanted.tasks, sessions) : wanted.tasks;
  return { sessions, tasks, connections: Math.min(wanted.connections, left - sessions * PER_SESSION) };
}

/** Undefined: there is all that was wanted. */
export function describeFewFiles(wanted: OpenFiles, planned: OpenFiles): string | undefined {
  const { sessions, connections } = planned;
  if (sessions === wanted.sessions && connections === wanted.connections) return undefined;
  return `at most ${sessions} sessions and ${connections} connections: the system's limit on open files is low, raise it with 'ulimit -n'`;
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
