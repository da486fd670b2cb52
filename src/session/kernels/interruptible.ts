// Work with a kernel that may be stopped: at a time limit, or by a signal.

import type { Kernel } from "../../kernel/kernel.ts";
import { checkDuration } from "../../util/check-number.ts";
import { onAbort } from "../../util/async/on-abort.ts";

export interface OperationOptions {
  /** Null or Infinity: no limit. Default: the runtime's, 55 s. */
  readonly timeoutMs?: number | null;
  /** Aborting stops it; while it waits for its turn it never starts. */
  readonly signal?: AbortSignal;
}

export interface Limits {
  readonly limitMs: number | null;
  readonly signal: AbortSignal | undefined;
}

export function toLimits({ timeoutMs, signal }: OperationOptions, defaultMs: number | null): Limits {
  checkDuration("timeoutMs", timeoutMs);
  signal?.throwIfAborted();
  const limitMs = timeoutMs === undefined ? defaultMs : timeoutMs;
  return { limitMs: limitMs === Infinity ? null : limitMs, signal };
}

/**
 * Does the work, and stops the kernel when it is time. `why` tells the work that this has happened: a kernel that was not
 * asked anything yet has not been stopped by it.
 * Rejects with the signal's reason once that is aborted.
 */
export async function stoppable<T>(
  kernel: Kernel,
  { limitMs, signal }: Limits,
  work: (why: () => string | undefined) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let reason: string | undefined;
  const stop = (how: "timeout" | "cancelled", told: string): void => {
    reason = told;
    kernel.stop(how);
  };
  const onTimeout = (): void => stop("timeout", `it took longer than ${limitMs} ms`);
  const timer = limitMs === null ? undefined : setTimeout(onTimeout, limitMs);
  const stopListening = onAbort(signal, () => stop("cancelled", "it was cancelled"));
  try {
    return await work(() => reason);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}
