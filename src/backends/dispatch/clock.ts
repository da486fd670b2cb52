// Time as a parameter, so that what waits can be tested without waiting.

export interface Clock {
  /** Milliseconds that only go forward. */
  now(): number;
  /** Calls once after so many milliseconds. Returns how to forget it. */
  after(ms: number, listener: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, listener) {
    const timer = setTimeout(listener, ms);
    return () => clearTimeout(timer);
  },
};
