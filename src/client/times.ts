// Time limits as requests have them.

/** The longest time that a request can name. A longer one is none. */
const MAX_TIME_MS = 2_000_000_000;

/** In a body: null for no limit. */
export function toTimeout(timeoutMs: number | null | undefined): number | null | undefined {
  return typeof timeoutMs === "number" && timeoutMs > MAX_TIME_MS ? null : timeoutMs;
}

/** As a query parameter: whole milliseconds, and the longest time for no limit. */
export function toQueryTime(timeoutMs: number | null | undefined): number | undefined {
  if (timeoutMs === undefined) return undefined;
  return Math.ceil(Math.min(timeoutMs ?? MAX_TIME_MS, MAX_TIME_MS));
}
