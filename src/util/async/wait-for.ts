// Waits for a promise with a time limit, any number of times. A pending promise keeps every reaction that was ever added to it, so polling
// one would leak memory. So each promise has a single reaction, which resolves all waiters.

import { onAbort } from "./on-abort.ts";

const waiting = new WeakMap<Promise<unknown>, Set<() => void>>();
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whether the promise settled, either way, before the time was up or the signal was aborted. */
export async function waitFor(work: Promise<unknown>, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return false;
  const waiters = waiting.get(work) ?? listen(work);
  return new Promise((resolve) => {
    const leave = (isSettled: boolean): void => {
      clearTimeout(timer);
      stopListening();
      waiters.delete(end);
      resolve(isSettled);
    };
    const end = (): void => leave(true);
    const timer = setTimeout(() => leave(false), Math.min(timeoutMs, MAX_TIMER_MS));
    const stopListening = onAbort(signal, () => leave(false));
    waiters.add(end);
  });
}

function listen(work: Promise<unknown>): Set<() => void> {
  const waiters = new Set<() => void>();
  waiting.set(work, waiters);
  const notifyAll = (): void => {
    waiting.delete(work);
    for (const end of waiters) end(); // each removes itself
  };
  work.then(notifyAll, notifyAll);
  return waiters;
}
