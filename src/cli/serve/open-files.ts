// What a server may have at once on this machine, by the system's limit on open files.

import { DEFAULT_LIMITS, type Limits } from "../../session/options.ts";
import { describeFewFiles, planOpenFiles } from "../../server/net/open-files.ts";
import { DEFAULT_MAX_CONNECTIONS } from "../../server/net/listen.ts";

export interface PlannedFiles {
  /** For the runtime. */
  readonly limits: Pick<Limits, "sessions" | "tasks">;
  readonly maxConnections: number;
  /** What to tell where it is less than was wanted. */
  readonly few: string | undefined;
}

/** Throws an error that says what to do where the system allows too few. */
export function planFiles(limits: Partial<Limits> = {}, connections = DEFAULT_MAX_CONNECTIONS): PlannedFiles {
  const { sessions = DEFAULT_LIMITS.sessions, tasks = DEFAULT_LIMITS.tasks } = limits;
  const wanted = { sessions, tasks, connections };
  const planned = planOpenFiles(wanted);
  return {
    limits: { sessions: planned.sessions, tasks: planned.tasks },
    maxConnections: planned.connections,
    few: describeFewFiles(wanted, planned),
  };
}
