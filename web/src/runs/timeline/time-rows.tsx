// The rows of the table that are in view, and a few beyond.

import type { ReadonlySignal } from "@preact/signals";
import type { RefObject, VNode } from "preact";
import { useCallback } from "preact/hooks";
import type { RunRow } from "../model/run-tree.ts";
import { isFolded } from "../model/visible-rows.ts";
import { useRun } from "../run-context.ts";
import { ROW_HEIGHT, TimeRow } from "./time-row.tsx";
import { useRovingFocus } from "./use-roving-focus.ts";

interface TimeRowsProps {
  readonly grid: RefObject<HTMLElement | null>;
  /** The row at the upper edge of the view. Only this part of the page follows it. */
  readonly first: ReadonlySignal<number>;
  /** Of the view, in pixels. */
  readonly height: number;
  /** Of the part with the bars, in pixels. */
  readonly width: number;
  /** Of the selected row, or the one in which it is folded. -1: there is none. */
  readonly selectedIndex: number;
}

/** Rows above and below the view, so that a fast scroll shows no gap. */
export const OVERSCAN = 6;

export function TimeRows({ grid, first, height, width, selectedIndex }: TimeRowsProps): VNode {
  const run = useRun();
  const rows = run.rows.value;
  const folds = run.folds.value;
  const range = run.range.value;
  const now = run.now.value;
  const isLive = run.isLive.value;
  useRovingFocus(grid, selectedIndex);
  const select = useCallback((row: RunRow) => run.read(row.id), [run]);
  const fold = useCallback((row: RunRow, isFoldedNow: boolean) => run.fold(row, isFoldedNow), [run]);

  const count = Math.ceil(height / ROW_HEIGHT) + 2 * OVERSCAN;
  const from = Math.max(0, Math.min(first.value - OVERSCAN, rows.length - count));
  const renderRow = (row: RunRow, index: number): VNode => (
    <TimeRow
      key={row.id}
      row={row}
      version={row.version}
      index={index}
      isSelected={index === selectedIndex}
      isTabStop={index === Math.max(0, selectedIndex)}
      isFolded={isFolded(row, folds)}
      range={range}
      width={width}
      now={row.endedAt === null ? now : 0}
      isLive={isLive}
      onSelect={select}
      onFold={fold}
    />
  );
  const selected = rows[selectedIndex];
  // The selected row stays, so that the focus does.
  const isAway = selectedIndex < from || selectedIndex >= from + count;
  return (
    <>
      {rows.slice(from, from + count).map((row, index) => renderRow(row, from + index))}
      {isAway && selected !== undefined && renderRow(selected, selectedIndex)}
    </>
  );
}
