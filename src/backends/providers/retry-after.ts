// When a provider says to come back.

/** An hour: a longer time is a mistake, or somebody who wants us to stand still. */
const MAX_MS = 3_600_000;

/** From the headers of an answer, names in lower case; null where nothing usable is said. `now` is in milliseconds since the epoch. */
export function parseRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const exact = toNumber(headers["retry-after-ms"]);
  if (exact !== null) return bounded(exact);
  const said = headers["retry-after"];
  if (said === undefined) return null;
  const seconds = toNumber(said);
  if (seconds !== null) return bounded(seconds * 1000);
  const date = Date.parse(said);
  return Number.isNaN(date) ? null : bounded(date - now);
}

function toNumber(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function bounded(ms: number): number {
  return Math.min(MAX_MS, Math.max(0, Math.ceil(ms)));
}
