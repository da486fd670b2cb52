// The bar of a row on the time axis, with the time it took after it. There is room for that beyond the end of the axis.

import type { VNode } from "preact";
import { formatDuration } from "../../parts/format.ts";
import type { RunRow } from "../model/run-tree.ts";
import { lanesOf, segmentsOf, type Segment } from "../model/segments.ts";
import { fractionAt, type TimeRange } from "../model/time-scale.ts";
import styles from "./bar.module.css";

interface BarProps {
  readonly row: RunRow;
  readonly range: TimeRange;
  readonly width: number;
  readonly now: number;
  /** Whether the run goes on. */
  readonly isLive: boolean;
}

const MIN_PX = 2;
const LANES_TOP_PX = 5;
const LANES_PX = 18;

export function Bar({ row, range, width, now, isLive }: BarProps): VNode | null {
  const end = row.endedAt ?? now;
  const [from, to] = [fractionAt(row.startedAt, range), fractionAt(end, range)];
  if (!Number.isFinite(from) || to < 0 || from > 1) return null;
  const isWhole = row.span !== null;
  const segments = row.kind === "batch" ? [] : segmentsOf(row, range, now, 1.5 / Math.max(width, 1));
  const lanes = row.kind === "batch" ? lanesOf(row, range, now) : [];
  return (
    <>
      <span class={styles["bar"]}>
        {!isWhole && <span class={`${styles["span"]} ${styles[row.kind]}`} style={placeOf(from, to)} />}
        {segments.map((segment, index) => (
          <span key={index} class={classOf(segment, row)} style={placeOf(segment.from, segment.to)} />
        ))}
        {lanes.map((lane, index) => (
          <span
            key={index}
            class={`${styles["lane"]} ${styles[`lane-${lane.kind}`]}`}
            style={{ ...placeOf(lane.from, lane.to), ...laneOf(index, lanes.length) }}
          />
        ))}
      </span>
      <span class={styles["label"]} style={{ left: `calc(${percent(Math.min(1, to))} + 6px)` }}>
        {row.endedAt === null ? (isLive ? "running" : "no end") : formatDuration(end - row.startedAt)}
      </span>
    </>
  );
}

function classOf({ kind }: Segment, { span, isOk, isCancelled, endedAt }: RunRow): string {
  const isFailed = span !== null && isOk === false && kind !== "wait";
  const isCached = span?.isCached === true;
  const isLive = span !== null && endedAt === null && kind !== "wait";
  return [
    styles["segment"],
    span === null ? styles["small"] : "",
    styles[kind],
    isFailed ? styles[isCancelled ? "cancelled" : "failed"] : "",
    isCached ? styles["cached"] : "",
    isLive ? styles["live"] : "",
  ].join(" ");
}

/** What lies outside is cut a little beyond the edge, so that numbers stay small however far one zooms in. */
function placeOf(from: number, to: number): { left: string; width: string } {
  const [start, end] = [Math.max(from, -0.02), Math.min(to, 1.02)];
  return { left: percent(start), width: `max(${MIN_PX}px, ${percent(end - start)})` };
}

/** Lanes share the height of a bar. */
function laneOf(index: number, count: number): { top: string; height: string } {
  const height = LANES_PX / count;
  return { top: `${LANES_TOP_PX + index * height}px`, height: `${Math.max(1, height - 1)}px` };
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(3)}%`;
}
