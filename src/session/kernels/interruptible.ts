// Work on a kernel that is interrupted at a time limit or by a signal.

import type { Kernel } from "../../kernel/kernel.ts";
import { checkDuration } from "../../util/check-number.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { OperationOptions } from "../options.ts";

/** Why the work was interrupted. Undefined: it was not. */
export type Interrupted = () => string | undefined;

interface InterruptLimits {
  readonly limitMs: number | null;
  readonly signal: AbortSignal | undefined;
}

export function toInterruptLimits({ timeoutMs, signal }: OperationOptions, defaultMs: number | null): InterruptLimits {
  checkDuration("timeoutMs", timeoutMs);
  signal?.throwIfAborted();
  const limitMs = timeoutMs === undefined ? defaultMs : timeoutMs;
  return { limitMs: limitMs === Infinity ? null : limitMs, signal };
}

/**
 * Does the work, and stops the kernel at the limit. The work must check `interrupted` before its first request, because stopping an idle
 * kernel has no effect. Rejects with the signal's reason once it is aborted.
 */
export async function interruptible<T>(
  kernel: Kernel,
  { limitMs, signal }: InterruptLimits,
  work: (interrupted: Interrupted) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let why: string | undefined;
  const stop = (reason: "timeout" | "cancelled", message: string): void => {
    why = message;
    kernel.stop(reason);
  };
  const onTimeout = (): void => stop("timeout", `it took longer than ${limitMs} ms`);
  const timer = limitMs === null ? undefined : setTimeout(onTimeout, limitMs);
  const stopListening = onAbort(signal, () => stop("cancelled", "it was cancelled"));
  try {
    return await work(() => why);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}
