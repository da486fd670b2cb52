// What a kernel has to do: the execution that it runs, those that wait for it, and requests.

import type { ExecutionListener } from "./listeners.ts";
import type { StopSequence } from "./stop-sequence.ts";

export interface WaitingExecution {
  readonly listener: ExecutionListener;
  isStopped: boolean;
}

export interface Running {
  readonly id: string;
  readonly listener: ExecutionListener;
  calls: AbortController | undefined;
  stopping: StopSequence | undefined;
}

/** A request that the worker's main thread is working on. */
export type ActiveRequest = Pick<Running, "stopping">;
