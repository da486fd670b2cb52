// The whole run, small: every row that is shown in the table, and the part of it that is in view. Drag to move it or to choose another.

import type { ReadonlySignal } from "@preact/signals";
import type { VNode } from "preact";
import { memo } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { RunRow } from "../../model/run-tree.ts";
import { fractionAt, panned, timeAt, type TimeRange } from "../../model/time-scale.ts";
import { prepareCanvas, useSize, useThemeTurn } from "../use-size.ts";
import styles from "./minimap.module.css";

interface MinimapProps {
  readonly rows: readonly RunRow[];
  readonly bounds: TimeRange;
  readonly range: TimeRange;
  readonly isWhole: boolean;
  /** Which rows are in view, as fractions. */
  readonly inView: ReadonlySignal<TimeRange>;
  readonly now: number;
  onRange(range: TimeRange | undefined): void;
  /** A fraction of the rows, to be scrolled to. */
  onScroll(fraction: number): void;
}

const HEIGHT = 48;
const MAX_DRAWN = 4_000;
const COLOURS = {
  node: "--child",
  step: "--line-strong",
  model: "--model",
  code: "--code",
  tool: "--code",
  batch: "--model",
};
/** Less is a click. */
const MIN_DRAG_PX = 3;

export const Minimap = memo(function Minimap(props: MinimapProps): VNode {
  const { rows, bounds, range, isWhole, inView, now, onRange, onScroll } = props;
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(element);
  const theme = useThemeTurn();

  useLayoutEffect(() => {
    const prepared = prepareCanvas(canvas.current, { width, height: HEIGHT });
    if (prepared === undefined) return;
    const { draw, colour } = prepared;
    const stride = Math.max(1, Math.ceil(rows.length / MAX_DRAWN));
    const unit = HEIGHT / Math.max(rows.length, 16);
    const colours = Object.fromEntries(Object.entries(COLOURS).map(([kind, name]) => [kind, colour(name)]));
    const [failed, cancelled] = [colour("--error"), colour("--line-strong")];
    for (let index = 0; index < rows.length; index += stride) {
      const row = rows[index];
      if (row === undefined || !Number.isFinite(row.startedAt)) continue;
      const from = fractionAt(row.startedAt, bounds) * width;
      const to = fractionAt(row.endedAt ?? now, bounds) * width;
      const isFailed = row.span !== null && row.isOk === false;
      draw.fillStyle = (isFailed ? (row.isCancelled ? cancelled : failed) : colours[row.kind]) ?? "";
      draw.fillRect(
        from,
        index * unit,
        Math.max(1, to - from),
        Math.max(0.75, unit * stride * (row.span === null ? 0.4 : 0.8)),
      );
    }
  }, [rows, bounds, width, theme, now]);

  const drag = (down: PointerEvent): void => {
    const box = element.current?.getBoundingClientRect();
    if (box === undefined || down.button !== 0) return;
    const fraction = (event: PointerEvent): number => Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const start = timeAt(fraction(down), bounds);
    const isInside = !isWhole && start >= range.from && start <= range.to;
    const move = (event: PointerEvent): void => {
      const time = timeAt(fraction(event), bounds);
      if (isInside) onRange(panned(range, bounds, time - start));
      else if (Math.abs(event.clientX - down.clientX) > MIN_DRAG_PX) {
        onRange({ from: Math.min(start, time), to: Math.max(start, time) });
      }
    };
    const end = (event: PointerEvent): void => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      if (Math.abs(event.clientX - down.clientX) <= MIN_DRAG_PX) onScroll((event.clientY - box.top) / box.height);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    down.preventDefault();
  };

  const [left, right] = [fractionAt(range.from, bounds), fractionAt(range.to, bounds)];
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys zoom too, see the commands of a run
    <div
      ref={element}
      class={styles["minimap"]}
      role="img"
      aria-label="The whole run, small"
      title="Drag to choose a part of the time. Double click shows all of it."
      onPointerDown={drag}
      onDblClick={() => onRange(undefined)}
    >
      <canvas ref={canvas} class={styles["canvas"]} />
      <span class={styles["shade"]} style={{ left: "0", width: `${left * 100}%` }} />
      <span class={styles["shade"]} style={{ right: "0", width: `${(1 - right) * 100}%` }} />
      <Window left={left} right={right} inView={inView} />
    </div>
  );
});

interface WindowProps extends Pick<MinimapProps, "inView"> {
  readonly left: number;
  readonly right: number;
}

function Window({ left, right, inView }: WindowProps): VNode {
  const { from, to } = inView.value;
  return (
    <span
      class={styles["window"]}
      style={{
        left: `${left * 100}%`,
        width: `${(right - left) * 100}%`,
        top: `${from * 100}%`,
        height: `max(4px, ${(to - from) * 100}%)`,
      }}
    />
  );
}
