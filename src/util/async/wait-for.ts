// Waiting for something for a while, as often as anybody likes. A promise keeps whoever was told to wait for it until it is settled, so
// that asking again and again how something stands would take more and more memory. So it has one of ours, which tells the others.

import { onAbort } from "./on-abort.ts";

const waiting = new WeakMap<Promise<unknown>, Set<() => void>>();
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whether it was settled, either way, before the time had passed or the signal was aborted. */
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
  const tellAll = (): void => {
    waiting.delete(work);
    for (const end of waiters) end(); // each leaves by itself
  };
  work.then(tellAll, tellAll);
  return waiters;
}
