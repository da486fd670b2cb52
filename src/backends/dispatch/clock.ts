// The clock as a parameter, so that tests need not wait.

import { onAbort } from "../../util/async/on-abort.ts";
import { PausableTimer } from "../../util/async/pausable-timer.ts";

export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls the listener once. Returns a function that cancels it. */
  after(ms: number, listener: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, listener) {
    const timer = new PausableTimer(ms, listener);
    return () => timer.stop();
  },
};

/** Rejects with the signal's reason. */
export async function sleep(ms: number, signal: AbortSignal, clock: Clock = systemClock): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      unlisten();
      resolve();
    });
    const unlisten = onAbort(signal, () => {
      cancel();
      reject(signal.reason as Error);
    });
  });
}
