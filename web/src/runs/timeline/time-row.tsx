// One row of the table of time: what it is at the left, and its bar at the right.

import type { VNode } from "preact";
import { memo } from "preact/compat";
import { formatCost, formatCount } from "../../parts/format.ts";
import { firstWords, modelOf, wordOf } from "../model/row-text.ts";
import type { RunRow } from "../model/run-tree.ts";
import { costOf, tokensOf } from "../model/sums.ts";
import type { TimeRange } from "../model/time-scale.ts";
import { Bar } from "./bar.tsx";
import { KindGlyph } from "./kind-glyph.tsx";
import styles from "./time-row.module.css";
import { TroubleMark } from "./trouble-mark.tsx";

export const ROW_HEIGHT = 28;
const INDENT = 12;
const MAX_INDENTED = 14;

export interface TimeRowProps {
  readonly row: RunRow;
  /** Tells that the row has changed. */
  readonly version: number;
  readonly index: number;
  readonly isSelected: boolean;
  /** Whether the tab key stops here. */
  readonly isTabStop: boolean;
  readonly isFolded: boolean;
  readonly range: TimeRange;
  /** Of the part with the bars, in pixels. */
  readonly width: number;
  /** Until when what has not ended is drawn. 0 where it has. */
  readonly now: number;
  /** Whether the run goes on. */
  readonly isLive: boolean;
  onSelect(row: RunRow): void;
  onFold(row: RunRow, isFolded: boolean): void;
}

export const TimeRow = memo(function TimeRow(props: TimeRowProps): VNode {
  const { row, index, isSelected, isTabStop, isFolded, range, width, now, isLive, onSelect, onFold } = props;
  const { children, level, sums } = row;
  const tokens = tokensOf(sums);
  const hasChildren = children.length > 0;
  const toggle = (event: MouseEvent): void => {
    event.stopPropagation();
    onFold(row, !isFolded);
  };
  return (
    <div
      role="row"
      id={rowElementId(row.id)}
      class={`${styles["row"]} ${isSelected ? styles["selected"] : ""}`}
      style={{ top: `${index * ROW_HEIGHT}px` }}
      aria-level={level}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-expanded={hasChildren ? !isFolded : undefined}
      tabIndex={isTabStop ? 0 : -1}
      data-row={row.id}
      onClick={() => onSelect(row)}
    >
      <div
        role="gridcell"
        class={styles["what"]}
        style={{ paddingLeft: `${8 + Math.min(level - 1, MAX_INDENTED) * INDENT}px` }}
      >
        <span
          class={`${styles["twisty"]} ${hasChildren ? styles["twists"] : ""} ${isFolded ? "" : styles["open"]}`}
          aria-hidden="true"
          onClick={hasChildren ? toggle : undefined}
        >
          {hasChildren && (
            <svg class={styles["chevron"]} viewBox="0 0 16 16">
              <path d="M6 4l4 4-4 4" />
            </svg>
          )}
        </span>
        <KindGlyph kind={row.kind} />
        <span class={styles["word"]}>{wordOf(row)}</span>
        <TroubleMark row={row} />
        <span class={styles["words"]}>{firstWords(row)}</span>
        {isFolded && <span class={styles["hidden"]}>{`+${formatCount(row.below)}`}</span>}
      </div>
      <div role="gridcell" class={styles["model"]}>
        {modelOf(row)}
      </div>
      <div role="gridcell" class={styles["number"]}>
        {tokens > 0 ? formatCount(tokens) : ""}
      </div>
      <div role="gridcell" class={`${styles["number"]} ${styles["cost"]}`}>
        {tokens > 0 ? formatCost(costOf(sums)) : ""}
      </div>
      <div role="gridcell" class={styles["time"]}>
        <Bar row={row} range={range} width={width} now={now} isLive={isLive} />
      </div>
    </div>
  );
});

/** Ids of rows have slashes, which is fine in an id of an element. */
function rowElementId(id: string): string {
  return `row-${id}`;
}
