// Listening to a caller's signal. One signal may serve thousands of operations at once: Node looks through all listeners of a signal
// for each one that is added or removed, and takes more than ten for a leak. So it has one of ours, which tells the others.

const listening = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls once when the signal aborts. Returns how to stop listening; without a signal there is nothing to do. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined || signal.aborted) return () => {};
  const listeners = listening.get(signal) ?? listen(signal);
  const own = (): void => listener(); // the same function may be given twice
  listeners.add(own);
  return () => {
    if (listeners.delete(own) && listeners.size === 0) unlisten(signal);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  listening.set(signal, listeners);
  signal.addEventListener("abort", tellAll, { once: true });
  return listeners;
}

/** A signal that follows others is kept for ever by Node while anybody listens to it. */
function unlisten(signal: AbortSignal): void {
  listening.delete(signal);
  signal.removeEventListener("abort", tellAll);
}

/** In the order in which they came; one that stops listening meanwhile is not told. */
function tellAll(this: AbortSignal): void {
  const listeners = listening.get(this);
  listening.delete(this);
  for (const listener of listeners ?? []) {
    try {
      listener();
    } catch (error) {
      // As with any event: the others are told all the same, and nothing hides it.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
