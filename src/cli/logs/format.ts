// Numbers for people.

export function toCount(value: number): string {
  return value.toLocaleString("en-US");
}

/** Null: not known. */
export function toCost(usd: number | null): string {
  if (usd === null) return "cost unknown";
  return `$${usd !== 0 && usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

export function toDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function toSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  const step = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** step).toFixed(1)} ${units[step - 1]}`;
}

/** Local time, to the second. A date that is none is shown as such. */
export function toTime(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "?";
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace("T", " ");
}

/** How long ago, in one unit. Clocks that differ show as now. */
export function toAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
