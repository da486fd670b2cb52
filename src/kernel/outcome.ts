// How an execution ended, as far as a kernel knows.

import type { WorkerExit } from "../environments/environment.ts";
import type { StatusEvent } from "../protocol/worker/worker-events.ts";

export type StopReason = "timeout" | "cancelled";

/** It was stopped before it started, the worker reported its status, or the worker was lost. */
export type Outcome =
  | { readonly kind: "unstarted"; readonly durationMs: 0 }
  | {
      readonly kind: "status";
      readonly status: StatusEvent;
      readonly stopped: StopReason | null;
      readonly durationMs: number;
    }
  | {
      readonly kind: "lost";
      /** Whether the session was restored from a checkpoint. Set by the session. */
      readonly isRestored?: boolean;
      /** How long a checkpoint may take to be restored before the result is due. Absent: no longer than any other. */
      readonly restoreLimitMs?: number;
      readonly exit: WorkerExit;
      readonly violation: string | null;
      readonly durationMs: number;
    };
