// Lines behind the bars: the ticks of the axis, and the limits that were met.

import type { VNode } from "preact";
import { memo } from "preact/compat";
import type { OutlineMark } from "../../../state/runs/run-source.ts";
import { fractionAt, ticksWithin, type TimeRange } from "../../model/time-scale.ts";
import styles from "../timeline.module.css";

interface GridLinesProps {
  readonly range: TimeRange;
  readonly bounds: TimeRange;
  readonly width: number;
  readonly marks: readonly OutlineMark[];
}

export const GridLines = memo(function GridLines({ range, bounds, width, marks }: GridLinesProps): VNode {
  return (
    <>
      {ticksWithin(range, bounds.from, width).map(({ time }) => (
        <span key={time} class={styles["line"]} style={{ left: `${fractionAt(time, range) * 100}%` }} />
      ))}
      {marks.map(({ seq, time, kind }) => {
        const at = fractionAt(time, range);
        return at < 0 || at > 1 ? null : (
          <span key={seq} class={`${styles["markLine"]} ${styles[kind]}`} style={{ left: `${at * 100}%` }} />
        );
      })}
    </>
  );
});
