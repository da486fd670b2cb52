// The table of time. Each row is a node, a step, a call, code or a tool; its bar is on the time axis at the right.

import { useComputed, useSignal } from "@preact/signals";
import type { RefObject, VNode } from "preact";
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Divider, useKeptSize } from "../../parts/layout/divider.tsx";
import type { OutlineMark } from "../../state/runs/run-source.ts";
import { concurrencyOf } from "../model/concurrency.ts";
import type { TimeRange } from "../model/time-scale.ts";
import { shownFor } from "../model/visible-rows.ts";
import { useRun } from "../run-context.ts";
import { ConcurrencyChart } from "./axis/concurrency-chart.tsx";
import { GridLines } from "./axis/grid-lines.tsx";
import { Minimap } from "./axis/minimap.tsx";
import { TimeAxis } from "./axis/time-axis.tsx";
import { ROW_HEIGHT } from "./time-row.tsx";
import { OVERSCAN, TimeRows } from "./time-rows.tsx";
import { useCursorLine } from "./axis/use-cursor-line.ts";
import { useGridKeys } from "./use-grid-keys.ts";
import { useSize } from "./use-size.ts";
import { useWheelZoom } from "./axis/use-wheel-zoom.ts";
import styles from "./timeline.module.css";

const NO_MARKS: readonly OutlineMark[] = [];
const LEGEND = [
  { name: "model", mark: "modelMark" },
  { name: "code", mark: "codeMark" },
  { name: "sub-calls", mark: "heldMark" },
  { name: "waiting", mark: "waitMark" },
];

export function Timeline(): VNode {
  const run = useRun();
  const rows = run.rows.value;
  const folds = run.folds.value;
  const range = run.range.value;
  const bounds = run.bounds.value;
  const outline = run.outline.value;
  const isLive = run.isLive.value;
  const isFollowing = run.isFollowing.value;
  const now = run.now.value;
  const marks = outline?.marks ?? NO_MARKS;

  const scroller = useRef<HTMLDivElement>(null);
  const timeHead = useRef<HTMLDivElement>(null);
  const { height } = useSize(scroller);
  const { width } = useSize(timeHead);
  const border = useBorder();
  const first = useSignal(0);
  const { body, line, label } = useCursorLine(range, bounds);

  const selected = run.selected.value;
  const shown = selected && shownFor(selected, folds);
  const selectedIndex = useMemo(() => (shown === undefined ? -1 : rows.indexOf(shown)), [rows, shown]);
  // While it runs, once a second is often enough for the charts.
  const chartsUntil = isLive ? Math.ceil(now / 1_000) * 1_000 : now;
  const spans = outline?.spans;
  const concurrency = useMemo(() => concurrencyOf(spans ?? [], chartsUntil), [spans, chartsUntil]);
  const inView = useComputed(() => {
    const all = Math.max(1, run.rows.value.length);
    return { from: first.value / all, to: Math.min(1, first.value / all + height / ROW_HEIGHT / all) };
  });

  const scroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const top = Math.floor(element.scrollTop / ROW_HEIGHT);
    // A few rows at a time: most scroll events change nothing.
    if (Math.abs(top - first.value) >= OVERSCAN / 2 || top === 0) first.value = top;
    if (isLive) follow(element, isFollowing, (follows) => run.follow(follows));
  };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && isLive && isFollowing) element.scrollTop = element.scrollHeight;
  }, [rows.length, isLive, isFollowing]);

  useLayoutEffect(() => {
    if (selectedIndex >= 0 && scroller.current !== null) keepInView(scroller.current, selectedIndex);
  }, [shown?.id]);

  useWheelZoom(run, scroller, timeHead);
  const onKeyDown = useGridKeys(run, scroller);
  const show = useCallback((next: TimeRange | undefined) => run.show(next), [run]);
  const toMark = useCallback(({ nodeId }: OutlineMark) => run.select(nodeId), [run]);
  const toFraction = useCallback(
    (fraction: number) => {
      const element = scroller.current;
      if (element !== null) element.scrollTop = fraction * element.scrollHeight - element.clientHeight / 2;
    },
    [scroller],
  );

  return (
    <section
      ref={border.section}
      class={styles["timeline"]}
      style={{ "--border": `${border.size}px` }}
      aria-label="Timeline"
    >
      <Minimap
        rows={rows}
        bounds={bounds}
        range={range}
        isWhole={run.isWhole.value}
        inView={inView}
        now={chartsUntil}
        onRange={show}
        onScroll={toFraction}
      />
      <div class={styles["table"]}>
        <div
          ref={scroller}
          class={styles["scroller"]}
          role="treegrid"
          aria-label="What happened in the run"
          aria-rowcount={rows.length + 1}
          aria-colcount={5}
          onScroll={scroll}
          onKeyDown={onKeyDown}
        >
          <div role="rowgroup" class={styles["head"]}>
            <div role="row" class={styles["headings"]} aria-rowindex={1}>
              <span role="columnheader" class={styles["heading"]}>
                <span class={styles["legend"]} aria-hidden="true">
                  {LEGEND.map(({ name, mark }) => (
                    <span key={name}>
                      <i class={styles[mark]} />
                      {name}
                    </span>
                  ))}
                </span>
                Name
              </span>
              <span role="columnheader" class={`${styles["heading"]} ${styles["model"]}`}>
                Model
              </span>
              <span role="columnheader" class={`${styles["heading"]} ${styles["number"]}`}>
                Tokens
              </span>
              <span role="columnheader" class={`${styles["heading"]} ${styles["number"]} ${styles["cost"]}`}>
                Cost
              </span>
              <div role="columnheader" aria-label="Time" class={styles["timeHead"]} ref={timeHead}>
                <TimeAxis range={range} bounds={bounds} width={width} marks={marks} onRange={show} onMark={toMark} />
                <ConcurrencyChart concurrency={concurrency} range={range} width={width} />
                <span class={styles["peak"]}>{`${concurrency.peak} at once`}</span>
                <span ref={label} class={styles["cursorTime"]} hidden />
              </div>
            </div>
          </div>
          <div
            role="rowgroup"
            ref={body}
            class={styles["body"]}
            style={{ height: `${Math.max(rows.length * ROW_HEIGHT, height - HEAD_PX)}px` }}
          >
            <div class={styles["lines"]} style={{ width: `${width}px` }} aria-hidden="true">
              <GridLines range={range} bounds={bounds} width={width} marks={marks} />
              <div ref={line} class={styles["cursor"]} hidden />
            </div>
            <TimeRows grid={scroller} first={first} height={height} width={width} selectedIndex={selectedIndex} />
          </div>
        </div>
        <div class={styles["border"]}>
          <Divider
            label="Width of the columns before the time"
            size={border.size}
            onSize={border.keep}
            root={border.section}
            min={MIN_COLUMNS_PX}
            minRest={MIN_TIME_PX}
          />
        </div>
      </div>
    </section>
  );
}

const MIN_COLUMNS_PX = 320;
const MIN_TIME_PX = 200;
/** What the columns have at first of a table of this width. */
const SHARES = { wide: 0.62, narrow: 0.54 } as const;
const WIDE_PX = 820;

interface Border {
  readonly section: RefObject<HTMLElement | null>;
  /** Of the columns before the time, in pixels. */
  readonly size: number;
  readonly keep: (size: number | undefined) => void;
}

/** Where the columns end and the time begins: as the reader left it, as far as there is room. */
function useBorder(): Border {
  const section = useRef<HTMLElement>(null);
  const { width } = useSize(section);
  const [kept, keep] = useKeptSize("run-columns");
  const wanted = kept ?? Math.round(width * (width > WIDE_PX ? SHARES.wide : SHARES.narrow));
  return { section, size: Math.max(MIN_COLUMNS_PX, Math.min(wanted, width - MIN_TIME_PX)), keep };
}

/** About the height of the head of the table. */
const HEAD_PX = 72;

/** At the end it is followed; away from it, it is not. */
function follow(element: HTMLElement, isFollowing: boolean, set: (isFollowing: boolean) => void): void {
  const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < ROW_HEIGHT;
  if (isAtEnd !== isFollowing) set(isAtEnd);
}

function keepInView(element: HTMLElement, index: number): void {
  const head = element.firstElementChild?.clientHeight ?? 0;
  const top = index * ROW_HEIGHT;
  const room = element.clientHeight - head - ROW_HEIGHT;
  if (top < element.scrollTop) element.scrollTop = Math.max(0, top - ROW_HEIGHT);
  else if (top > element.scrollTop + room) element.scrollTop = top - room + ROW_HEIGHT;
}
