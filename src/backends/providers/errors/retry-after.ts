// When a provider allows the next request.

/** One day, as quotas per day ask for. A longer delay is a mistake, or an attempt to stop us. */
const MAX_MS = 86_400_000;

/** From response headers with lower-case names; null where they have nothing usable. `now` is in milliseconds since the epoch. */
export function parseRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const exactMs = toNumber(headers["retry-after-ms"]);
  if (exactMs !== null) return clamp(exactMs);
  const value = headers["retry-after"];
  if (value === undefined) return null;
  const seconds = toNumber(value);
  if (seconds !== null) return clamp(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : clamp(date - now);
}

function toNumber(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function clamp(ms: number): number {
  return Math.min(MAX_MS, Math.max(0, Math.ceil(ms)));
}
