// How many model calls were in flight at each moment, and how many of them waited for a limit or a retry.

import type { OutlineSpan } from "../../state/runs/run-source.ts";
import type { TimeRange } from "./time-scale.ts";

/** A step function: from `times[i]` on, `calls[i]` were in flight, of which `waiting[i]` waited. */
export interface Concurrency {
  readonly times: Float64Array;
  readonly calls: Int32Array;
  readonly waiting: Int32Array;
  readonly peak: number;
}

/** The most in each column of a chart. */
export interface ConcurrencyColumns {
  readonly calls: Int32Array;
  readonly waiting: Int32Array;
}

/** A call that has not ended is in flight until `now`. */
export function concurrencyOf(spans: readonly OutlineSpan[], now: number): Concurrency {
  const changes: { time: number; calls: number; waiting: number }[] = [];
  for (const { kind, startedAt, endedAt, waits } of spans) {
    const end = endedAt ?? now;
    if (kind !== "model" || end <= startedAt) continue;
    changes.push({ time: startedAt, calls: 1, waiting: 0 }, { time: end, calls: -1, waiting: 0 });
    for (const { at, delayMs } of waits) {
      const until = Math.min(at + delayMs, end);
      if (until <= at) continue;
      changes.push({ time: at, calls: 0, waiting: 1 }, { time: until, calls: 0, waiting: -1 });
    }
  }
  changes.sort((a, b) => a.time - b.time);
  return added(changes);
}

function added(changes: readonly { time: number; calls: number; waiting: number }[]): Concurrency {
  const times: number[] = [];
  const calls: number[] = [];
  const waiting: number[] = [];
  let [inFlight, held, peak] = [0, 0, 0];
  for (const [index, change] of changes.entries()) {
    inFlight += change.calls;
    held += change.waiting;
    if (changes[index + 1]?.time === change.time) continue;
    times.push(change.time);
    calls.push(inFlight);
    waiting.push(held);
    peak = Math.max(peak, inFlight);
  }
  return { times: Float64Array.from(times), calls: Int32Array.from(calls), waiting: Int32Array.from(waiting), peak };
}

/** The most that was in flight in each of `count` columns of the range. */
export function columnsOf({ times, calls, waiting }: Concurrency, range: TimeRange, count: number): ConcurrencyColumns {
  const columns = { calls: new Int32Array(count), waiting: new Int32Array(count) };
  const width = (range.to - range.from) / count;
  let index = lastBefore(times, range.from);
  for (let column = 0; column < count; column += 1) {
    const [start, end] = [range.from + column * width, range.from + (column + 1) * width];
    while ((times[index + 1] ?? Infinity) <= start) index += 1;
    let [most, held] = [index >= 0 ? (calls[index] ?? 0) : 0, index >= 0 ? (waiting[index] ?? 0) : 0];
    while (index + 1 < times.length && (times[index + 1] ?? Infinity) < end) {
      index += 1;
      most = Math.max(most, calls[index] ?? 0);
      held = Math.max(held, waiting[index] ?? 0);
    }
    columns.calls[column] = most;
    columns.waiting[column] = held;
  }
  return columns;
}

/** How many were in flight at a moment. */
export function callsAt({ times, calls, waiting }: Concurrency, time: number): { calls: number; waiting: number } {
  const index = lastBefore(times, time);
  return index < 0 ? { calls: 0, waiting: 0 } : { calls: calls[index] ?? 0, waiting: waiting[index] ?? 0 };
}

/** The last index whose time is not after `time`; -1 if there is none. */
function lastBefore(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
