// How an execution ended, as far as a kernel can know.

import type { WorkerExit } from "../environments/environment.ts";
import type { StatusEvent } from "../protocol/worker/worker-events.ts";

export type StopReason = "timeout" | "cancelled";

/** How an execution ended: the worker said so, it was stopped before it started, or the worker is no more. */
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
      /** True when the session came back from a checkpoint; the kernel itself cannot know. */
      readonly isRestored?: boolean;
      readonly exit: WorkerExit;
      readonly violation: string | null;
      readonly durationMs: number;
    };
