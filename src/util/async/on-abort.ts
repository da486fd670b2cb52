// Listens to a caller's signal, which may serve thousands of operations at once. Node scans all listeners of a signal for each one that is
// added or removed, and warns of a leak above ten. So each signal has a single native listener, which calls ours.

const listening = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls the listener once when the signal aborts. Returns a function that stops listening. Does nothing without a signal. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined || signal.aborted) return () => {};
  const listeners = listening.get(signal) ?? listen(signal);
  const own = (): void => listener(); // the same function may be passed twice
  listeners.add(own);
  return () => {
    if (!listeners.delete(own) || listeners.size > 0) return;
    // Node keeps a signal made by `AbortSignal.any` alive as long as it has a listener.
    listening.delete(signal);
    signal.removeEventListener("abort", notifyAll);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  listening.set(signal, listeners);
  signal.addEventListener("abort", notifyAll, { once: true });
  return listeners;
}

/** In the order of registration; skips listeners that are removed meanwhile. */
function notifyAll(this: AbortSignal): void {
  const listeners = listening.get(this);
  listening.delete(this);
  for (const listener of listeners ?? []) {
    try {
      listener();
    } catch (error) {
      // As with any event listener: the others are still called, and the error is reported as uncaught.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
