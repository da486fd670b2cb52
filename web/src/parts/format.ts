// Numbers, times and sizes as people read them. Widths change as little as possible.

/** `340 ms`, `2.4 s`, `3 min 20 s`, `1 h 05 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 60_000) return "1 min 0 s";
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** `512 B`, `1.4 kB`, `2.0 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let amount = bytes;
  let unit = 0;
  // What would be rounded to 1000.0 is 1.0 of the next.
  while (amount >= (unit === 0 ? 1_000 : 999.95) && unit < units.length - 1) {
    amount /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/** `1,234`, `56.7k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString("en");
  return count < 999_950 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** `$0.0042`, `$1.20`, `<$0.0001`; `–` where the price is not known. */
export function formatCost(usd: number | null): string {
  if (usd === null) return "–";
  if (usd > 0 && usd < 0.000_05) return "<$0.0001";
  return `$${usd !== 0 && usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** `now`, `12 s`, `4 min`, `3 h`, `2 d`: how long ago. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1_000);
  if (seconds < 2) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
