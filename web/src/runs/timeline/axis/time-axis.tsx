// The time axis: ticks, the limits that were met, zoom by wheel, a range by dragging.

import type { VNode } from "preact";
import { memo } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import type { OutlineMark } from "../../../state/runs/run-source.ts";
import {
  clamped,
  formatMoment,
  fractionAt,
  spanOf,
  ticksWithin,
  timeAt,
  type TimeRange,
} from "../../model/time-scale.ts";
import { markText } from "../../model/limit-text.ts";
import styles from "../timeline.module.css";

interface TimeAxisProps {
  readonly range: TimeRange;
  readonly bounds: TimeRange;
  readonly width: number;
  readonly marks: readonly OutlineMark[];
  onRange(range: TimeRange | undefined): void;
  onMark(mark: OutlineMark): void;
}

const MIN_DRAG_PX = 4;

export const TimeAxis = memo(function TimeAxis(props: TimeAxisProps): VNode {
  const { range, bounds, width, marks, onRange, onMark } = props;
  const element = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<{ readonly from: number; readonly to: number }>();

  const drag = (down: PointerEvent): void => {
    const box = element.current?.getBoundingClientRect();
    if (box === undefined || down.button !== 0) return;
    const fraction = (event: PointerEvent): number => Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const start = fraction(down);
    const chosen = (event: PointerEvent): { from: number; to: number } => {
      const at = fraction(event);
      return { from: Math.min(start, at), to: Math.max(start, at) };
    };
    const move = (event: PointerEvent): void => setDragged(chosen(event));
    const end = (event: PointerEvent): void => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      setDragged(undefined);
      const { from, to } = chosen(event);
      if ((to - from) * box.width < MIN_DRAG_PX) return;
      onRange(clamped({ from: timeAt(from, range), to: timeAt(to, range) }, bounds));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    down.preventDefault();
  };

  return (
    <div ref={element} class={styles["axis"]} onPointerDown={drag} onDblClick={() => onRange(undefined)}>
      {ticksWithin(range, bounds.from, width).map(({ time, label }) => (
        <span key={time} class={styles["tick"]} style={{ left: `${fractionAt(time, range) * 100}%` }}>
          {label}
        </span>
      ))}
      {apart(marks, range, width).map((mark) => {
        const at = fractionAt(mark.time, range);
        return (
          <button
            key={mark.seq}
            type="button"
            class={`${styles["flag"]} ${styles[mark.kind]}`}
            style={{ left: `${at * 100}%` }}
            title={markText(mark)}
            aria-label={markText(mark)}
            onPointerDown={(event) => event.stopPropagation()}
            onClick={() => onMark(mark)}
          >
            <svg viewBox="0 0 12 14" aria-hidden="true">
              <path d="M2 13V2h8l-2.5 3L10 8H2" />
            </svg>
          </button>
        );
      })}
      {dragged !== undefined && (
        <span
          class={styles["dragged"]}
          style={{ left: `${dragged.from * 100}%`, width: `${(dragged.to - dragged.from) * 100}%` }}
        >
          {formatMoment((dragged.to - dragged.from) * spanOf(range), 1)}
        </span>
      )}
    </div>
  );
});

const MARK_PX = 6;

/** Those in view. Of those at one place only the last is shown: a limit that was reached hides that it was near. */
function apart(marks: readonly OutlineMark[], range: TimeRange, width: number): readonly OutlineMark[] {
  const places = new Map<number, OutlineMark>();
  for (const mark of marks) {
    const at = fractionAt(mark.time, range);
    if (at >= 0 && at <= 1) places.set(Math.round((at * width) / MARK_PX), mark);
  }
  return [...places.values()];
}
