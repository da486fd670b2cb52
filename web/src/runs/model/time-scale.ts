// The time axis: which part of a run is shown, where a moment is in it, and where the ticks are. Times are milliseconds.

export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export interface Tick {
  readonly time: number;
  readonly label: string;
}

/** Nothing is shown larger than this. */
const MIN_SPAN_MS = 2;
const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];

export function spanOf({ from, to }: TimeRange): number {
  return to - from;
}

/** As a fraction of the range: 0 is its beginning, 1 its end. */
export function fractionAt(time: number, { from, to }: TimeRange): number {
  return to > from ? (time - from) / (to - from) : 0;
}

export function timeAt(fraction: number, { from, to }: TimeRange): number {
  return from + fraction * (to - from);
}

/** Zooms by the factor (below 1: in) around a moment, within the bounds. */
export function zoomed(range: TimeRange, bounds: TimeRange, around: number, factor: number): TimeRange {
  const span = Math.min(spanOf(bounds), Math.max(MIN_SPAN_MS, spanOf(range) * factor));
  const before = (around - range.from) / Math.max(MIN_SPAN_MS, spanOf(range));
  return clamped({ from: around - before * span, to: around + (1 - before) * span }, bounds);
}

export function panned(range: TimeRange, bounds: TimeRange, byMs: number): TimeRange {
  return clamped({ from: range.from + byMs, to: range.to + byMs }, bounds);
}

/** Moved, and shortened if needed, so that it lies within the bounds. */
export function clamped({ from, to }: TimeRange, bounds: TimeRange): TimeRange {
  const span = Math.min(Math.max(to - from, MIN_SPAN_MS), Math.max(MIN_SPAN_MS, spanOf(bounds)));
  const start = Math.min(Math.max(from, bounds.from), bounds.to - span);
  return { from: Math.max(start, bounds.from), to: Math.max(start, bounds.from) + span };
}

/** Round moments, counted from `zero`, at least `apart` of the range away from each other. */
export function ticksOf(range: TimeRange, zero: number, apart: number): readonly Tick[] {
  const wanted = spanOf(range) * apart;
  const step = STEPS_MS.find((ms) => ms >= wanted) ?? Math.ceil(wanted / 86_400_000) * 86_400_000;
  const ticks: Tick[] = [];
  for (let at = Math.ceil((range.from - zero) / step) * step; zero + at <= range.to; at += step) {
    ticks.push({ time: zero + at, label: formatMoment(at, step) });
  }
  return ticks;
}

const TICK_PX = 88;

/** Ticks for an axis of that many pixels. */
export function ticksWithin(range: TimeRange, zero: number, width: number): readonly Tick[] {
  return width < TICK_PX / 4 ? [] : ticksOf(range, zero, TICK_PX / width);
}

/** A moment since the beginning, as exact as `stepMs` needs: `0 s`, `350 ms`, `1.5 s`, `2:30`, `1:05:00`. */
export function formatMoment(ms: number, stepMs: number): string {
  if (Math.abs(ms) < 60_000) {
    if (stepMs < 1_000 && Math.abs(ms) < 1_000 && ms !== 0) return `${round(ms, stepMs < 1 ? 1 : 0)} ms`;
    return `${round(ms / 1_000, decimalsOf(stepMs))} s`;
  }
  const seconds = ms / 1_000;
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const decimals = decimalsOf(stepMs);
  const rest = (seconds % 60).toFixed(decimals).padStart(decimals === 0 ? 2 : 3 + decimals, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

function decimalsOf(stepMs: number): number {
  if (stepMs >= 1_000) return 0;
  return stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3;
}

function round(value: number, decimals: number): string {
  return value === 0 ? "0" : value.toFixed(decimals);
}
