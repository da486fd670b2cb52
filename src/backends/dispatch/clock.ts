// The clock as a parameter, so that tests need not wait.

export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls the listener once. Returns a function that cancels it. */
  after(ms: number, listener: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, listener) {
    const timer = setTimeout(listener, ms);
    return () => clearTimeout(timer);
  },
};
