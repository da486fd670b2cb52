// Numbers, amounts and times as people read them.

const FRACTION = { maximumFractionDigits: 4 };

/** `1,234`, or with a noun `1 call`, `1,234 calls`. */
export function formatCount(value: number, noun?: string): string {
  const digits = value.toLocaleString("en-US", FRACTION);
  return noun === undefined ? digits : `${digits} ${noun}${value === 1 ? "" : "s"}`;
}

/** `9,999 tokens`, `12.3k tokens`, `1.25M tokens`. */
export function formatTokens(tokens: number): string {
  if (tokens < 10_000) return `${formatCount(tokens)} tokens`;
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k tokens` : `${(tokens / 1_000_000).toFixed(2)}M tokens`;
}

/** Null: a price is not known. */
export function formatCost(usd: number | null): string {
  if (usd === null) return "cost unknown";
  if (usd > 0 && usd < 0.00005) return "<$0.0001";
  return `$${usd !== 0 && usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

const UNITS = ["KiB", "MiB", "GiB", "TiB"];

/** `512 bytes`, `1.5 KiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return formatCount(bytes, "byte");
  const power = Math.min(UNITS.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power - 1]}`;
}

/** `0.5 s`, `1 min 5 s`. */
export function formatSeconds(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** Like `formatSeconds`, in milliseconds below a second. */
export function formatDuration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : formatSeconds(ms);
}

/** How long ago, in one unit. A time in the future counts as now. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Local time to the second; `?` if it is not a date. */
export function formatTime(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "?";
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace("T", " ");
}
