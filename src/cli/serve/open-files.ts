// Fits the limits of a server to the system's limit on open files.

import type { Limits } from "../../api/local.ts";
import { DEFAULT_LIMITS } from "../../session/default-limits.ts";
import { describeFewFiles, planOpenFiles } from "../../server/net/open-files.ts";
import { DEFAULT_MAX_CONNECTIONS } from "../../server/net/listen.ts";

export interface PlannedFiles {
  /** For the runtime. */
  readonly limits: Pick<Limits, "sessions" | "tasks">;
  readonly maxConnections: number;
  /** A warning if the limits are lower than requested. */
  readonly warning: string | undefined;
}

/** Throws an error that says what to do if the system allows too few. */
export function planFiles(limits: Partial<Limits> = {}, connections = DEFAULT_MAX_CONNECTIONS): PlannedFiles {
  const { sessions = DEFAULT_LIMITS.sessions, tasks = DEFAULT_LIMITS.tasks } = limits;
  const wanted = { sessions, tasks, connections };
  const planned = planOpenFiles(wanted);
  return {
    limits: { sessions: planned.sessions, tasks: planned.tasks },
    maxConnections: planned.connections,
    warning: describeFewFiles(wanted, planned),
  };
}
