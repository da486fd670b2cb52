// Divides the limit on open files between connections and sessions. Where the system allows few, there are fewer of both, so that neither
// starves the other.

import type { Limits } from "../../api/local.ts";
import { openFileLimit } from "../../util/system/open-file-limit.ts";

export interface OpenFiles extends Pick<Limits, "sessions" | "tasks"> {
  readonly connections: number;
}

/** Fewer leave nothing for sessions. */
const MIN_FILES = 128;
/** For the process itself, pooled sandboxes, transfers, and short-lived files. */
const BASE = 80;
/** The pipes of a worker and of a command. */
const PER_SESSION = 7;
/** Of the remaining files. */
const SESSIONS_SHARE = 0.75;

/** Lowers what is wanted to what fits. Throws an error that says what to do when almost nothing fits. */
export function planOpenFiles(wanted: OpenFiles, limit: number = openFileLimit()): OpenFiles {
  if (limit < MIN_FILES) {
    throw new Error(
      `cannot serve with a limit of ${limit} open files: at least ${MIN_FILES} are needed. Raise it with 'ulimit -n 4096'`,
    );
  }
  const left = limit - BASE;
  const sessions = Math.min(wanted.sessions, Math.floor((left * SESSIONS_SHARE) / PER_SESSION));
  const tasks = sessions < wanted.sessions ? Math.min(wanted.tasks, sessions) : wanted.tasks;
  return { sessions, tasks, connections: Math.min(wanted.connections, left - sessions * PER_SESSION) };
}

/** Undefined: nothing was lowered. */
export function describeFewFiles(wanted: OpenFiles, planned: OpenFiles): string | undefined {
  const { sessions, connections } = planned;
  if (sessions === wanted.sessions && connections === wanted.connections) return undefined;
  return `at most ${sessions} sessions and ${connections} connections: the system's limit on open files is low, raise it with 'ulimit -n'`;
}
