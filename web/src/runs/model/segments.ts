// What a bar consists of: coloured parts on the time axis, so few that a row stays cheap to draw.

import type { RunRow } from "./run-tree.ts";
import { fractionAt, type TimeRange } from "./time-scale.ts";

/** `held`: code that only waits for what it started. `wait`: a call that waits for a limit or a retry. */
export type SegmentKind = "model" | "code" | "held" | "tool" | "wait";

/** As fractions of the visible range; they may reach beyond it. */
export interface Segment {
  readonly kind: SegmentKind;
  readonly from: number;
  readonly to: number;
}

/** One of the things that were asked for at once. */
export interface Lane {
  readonly kind: "model" | "node" | "failed" | "cancelled";
  readonly from: number;
  readonly to: number;
}

interface Interval {
  readonly from: number;
  readonly to: number;
}

const MAX_SEGMENTS = 60;
const MAX_LANES = 8;
/** Parts that are looked at for one bar. A damaged record may have so many that this would take minutes. */
const MAX_PARTS = 50_000;

/** Of a node or a step: its own calls and code. Of a call: the call and its waits. `apart`: what is closer than this fraction is joined. */
export function segmentsOf(row: RunRow, range: TimeRange, now: number, apart: number): readonly Segment[] {
  const segments: Segment[] = [];
  addSegments(row, now, segments);
  const seen = segments
    .map(({ kind, from, to }) => ({ kind, from: fractionAt(from, range), to: fractionAt(to, range) }))
    .filter(({ from, to }) => to >= 0 && from <= 1);
  const waits = seen.filter(({ kind }) => kind === "wait");
  const bars = seen.filter(({ kind }) => kind !== "wait");
  return [...(row.span === null ? joined(bars, apart) : bars), ...waits].slice(0, MAX_SEGMENTS);
}

/** Some of the members of a batch, evenly chosen, from the first to the last. */
export function lanesOf({ children }: RunRow, range: TimeRange, now: number): readonly Lane[] {
  const count = Math.min(MAX_LANES, children.length);
  return Array.from({ length: count }, (_, lane) => children[Math.floor((lane * children.length) / count)]).flatMap(
    (child) => {
      if (child === undefined) return [];
      const [from, to] = [fractionAt(child.startedAt, range), fractionAt(child.endedAt ?? now, range)];
      return [{ kind: laneKind(child), from, to }];
    },
  );
}

function laneKind({ kind, isOk, isCancelled }: RunRow): Lane["kind"] {
  if (isCancelled) return "cancelled";
  if (isOk === false) return "failed";
  return kind === "node" ? "node" : "model";
}

/** In milliseconds. A node shows its own work; what it started has rows of its own. `held`: of the parent, where it is known. */
function addSegments(row: RunRow, now: number, segments: Segment[], held?: readonly Interval[]): void {
  const { span } = row;
  if (span === null) {
    const own = row.children.filter((child) => child.kind === "step" || child.span !== null);
    const heldInside = own.some((child) => child.kind === "code") ? heldIn(row, now) : [];
    for (const child of own) {
      if (segments.length >= MAX_PARTS) return;
      addSegments(child, now, segments, heldInside);
    }
    return;
  }
  const [from, to] = [span.startedAt, row.endedAt ?? now];
  if (span.kind === "code")
    addCode(held ?? (row.parent === null ? [] : heldIn(row.parent, now)), { from, to }, segments);
  else segments.push({ kind: span.kind, from, to });
  for (const { at, delayMs } of span.waits) segments.push({ kind: "wait", from: at, to: Math.min(to, at + delayMs) });
}

/** When code in it waited for the calls and nodes that it started. */
function heldIn({ children }: RunRow, now: number): readonly Interval[] {
  return union(
    children.flatMap((child) => {
      const isStarted = child.kind === "batch" || child.kind === "node" || child.span?.purpose === "query";
      return isStarted || child.kind === "tool" ? [{ from: child.startedAt, to: child.endedAt ?? now }] : [];
    }),
  );
}

/** `held`: in order, apart from each other. */
function addCode(held: readonly Interval[], { from, to }: Interval, segments: Segment[]): void {
  let done = from;
  for (let index = firstEndingAfter(held, from); segments.length < MAX_PARTS; index += 1) {
    const part = held[index];
    if (part === undefined || part.from >= to) break;
    const [start, end] = [Math.max(part.from, done), Math.min(part.to, to)];
    if (end <= start) continue;
    if (start > done) segments.push({ kind: "code", from: done, to: start });
    segments.push({ kind: "held", from: start, to: end });
    done = end;
  }
  if (done < to || done === from) segments.push({ kind: "code", from: done, to });
}

function firstEndingAfter(intervals: readonly Interval[], time: number): number {
  let [low, high] = [0, intervals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((intervals[middle]?.to ?? Infinity) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Sorted by their beginning, as rows are. */
function union(intervals: readonly Interval[]): readonly Interval[] {
  const result: Interval[] = [];
  for (const interval of intervals) {
    const last = result.at(-1);
    if (last !== undefined && interval.from <= last.to) {
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, interval.to) };
    } else result.push(interval);
  }
  return result;
}

/** Neighbours of one kind become one; parts too small to be seen keep the kind that was there before. */
function joined(segments: readonly Segment[], apart: number): Segment[] {
  const result: Segment[] = [];
  for (const segment of segments.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    const isNear = last !== undefined && segment.from - last.to < apart;
    const isSmall = segment.to - segment.from < apart;
    if (last !== undefined && isNear && (last.kind === segment.kind || isSmall)) {
      result[result.length - 1] = { ...last, to: Math.max(last.to, segment.to) };
    } else result.push(segment);
  }
  return result;
}
