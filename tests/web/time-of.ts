/** Milliseconds that the work takes. Limits on it must be those that only a failure reaches. */
export function timeOf(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}
