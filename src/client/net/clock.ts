// Time, as a parameter: tests advance it themselves.

export interface Clock {
  /** In milliseconds. */
  now(): number;
  /** Calls back once. Returns what cancels it. `isIdle`: it does not keep a Node process alive. */
  start(ms: number, callback: () => void, options?: { readonly isIdle?: boolean }): () => void;
  /** From 0 to 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  start: (ms, callback, { isIdle = false } = {}) => {
    const timer: unknown = setTimeout(callback, ms);
    if (isIdle) (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as number);
  },
  random: () => Math.random(),
};

/** Resolves after the time, or when one of the signals is aborted. */
export function sleep(clock: Clock, ms: number, signals: readonly AbortSignal[], isIdle = false): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      for (const signal of signals) signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.start(ms, end, { isIdle });
    for (const signal of signals) signal.addEventListener("abort", end);
    if (signals.some(({ aborted }) => aborted)) end();
  });
}
