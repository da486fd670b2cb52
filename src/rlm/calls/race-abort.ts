// Waiting for work until a signal is aborted.

import { onAbort } from "../../util/async/on-abort.ts";

/** Settles like the work, or rejects with the signal's reason, whichever comes first. The work itself goes on. */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {}); // it may fail when nobody waits for it any more
  signal.throwIfAborted();
  let unlisten = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    unlisten = onAbort(signal, () => reject(signal.reason as Error));
  });
  return Promise.race([work, aborted]).finally(unlisten);
}
