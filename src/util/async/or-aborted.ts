import { onAbort } from "./on-abort.ts";

/** Settles as the work does, or rejects with the signal's reason if that comes first. The work itself goes on. */
export function orAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    const unlisten = onAbort(signal, () => reject(signal.reason as Error));
    work.then(resolve, reject).then(unlisten);
  });
}
