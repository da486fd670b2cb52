// Listening to a caller's signal. One signal may serve hundreds of operations at once, which Node takes for a leak.

import { setMaxListeners } from "node:events";

/** Calls once when the signal aborts. Returns how to stop listening; without a signal there is nothing to do. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  setMaxListeners(0, signal);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
