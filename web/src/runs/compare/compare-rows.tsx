// The rows of two runs, aligned. Rows that say the same are folded; where the runs part is marked and scrolled to.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatCount, formatDuration } from "../../parts/format.ts";
import { useNarrow } from "../../parts/layout/use-narrow.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import type { Comparison } from "../../state/runs/comparison.ts";
import type { ComparedRow, CompareLine, Likeness } from "../model/compare.ts";
import { firstWords, wordOf } from "../model/row-text.ts";
import type { RunRow } from "../model/run-tree.ts";
import { tokensOf } from "../model/sums.ts";
import { KindGlyph } from "../timeline/kind-glyph.tsx";
import { useSize } from "../timeline/use-size.ts";
import styles from "./compare-rows.module.css";

const ROW_HEIGHT = 28;
/** On a phone the two sides are below each other. */
const NARROW_ROW_HEIGHT = 52;
const OVERSCAN = 10;
const INDENT = 12;
const NARROW_INDENT = 6;

const WORDS: Readonly<Record<Likeness, string>> = {
  same: "same",
  inside: "inside differs",
  different: "differs",
  "only-left": "left only",
  "only-right": "right only",
};
const SIGNS: Readonly<Record<Likeness, string>> = {
  same: "=",
  inside: "↓",
  different: "≠",
  "only-left": "−",
  "only-right": "+",
};

interface CompareRowsProps {
  readonly comparison: Comparison;
  /** The reader wants to read this row. */
  onRead(): void;
}

export function CompareRows({ comparison, onRead }: CompareRowsProps): VNode {
  const lines = comparison.lines.value;
  const selected = comparison.selected.value;
  const parting = comparison.parting.value;
  const isNarrow = useNarrow();
  const rowHeight = isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const scroller = useRef<HTMLDivElement>(null);
  const { height } = useSize(scroller);
  const [first, setFirst] = useState(0);
  const selectedIndex = lines.findIndex((line) => line.kind === "row" && line.row.place === selected?.place);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || selectedIndex < 0) return;
    const top = selectedIndex * rowHeight;
    const isSeen = top >= element.scrollTop && top < element.scrollTop + element.clientHeight - rowHeight;
    if (!isSeen) element.scrollTop = top - element.clientHeight / 3;
  }, [selected?.place, height > 0, rowHeight]);
  const from = Math.max(0, first - OVERSCAN);
  const shown = lines.slice(from, from + Math.ceil(height / rowHeight) + 2 * OVERSCAN);
  return (
    <div
      ref={scroller}
      class={styles["scroller"]}
      role="grid"
      aria-label="Rows of both runs"
      aria-rowcount={lines.length}
      tabIndex={0}
      onScroll={({ currentTarget }) => setFirst(Math.floor(currentTarget.scrollTop / rowHeight))}
      onKeyDown={(event) => {
        if (event.key === "Enter" && event.target === event.currentTarget) return onRead();
        if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
        event.preventDefault();
        comparison.step(event.key === "ArrowDown" ? 1 : -1);
      }}
    >
      <div role="rowgroup" style={{ height: `${lines.length * rowHeight}px` }}>
        {shown.map((line, index) => (
          <Line
            key={`${line.kind} ${line.kind === "row" ? line.row.place : line.place}`}
            line={line}
            index={from + index}
            top={(from + index) * rowHeight}
            isSelected={from + index === selectedIndex}
            isParting={line.kind === "row" && line.row.place === parting?.place}
            isNarrow={isNarrow}
            comparison={comparison}
            onRead={onRead}
          />
        ))}
      </div>
    </div>
  );
}

interface LineProps extends CompareRowsProps {
  readonly line: CompareLine;
  readonly index: number;
  readonly top: number;
  readonly isSelected: boolean;
  readonly isParting: boolean;
  readonly isNarrow: boolean;
}

function Line(props: LineProps): VNode {
  const { line, index, top, isSelected, isParting, isNarrow, comparison, onRead } = props;
  const place = { top: `${top}px` };
  if (line.kind === "same") {
    return (
      <div role="row" aria-rowindex={index + 1} class={styles["row"]} style={place}>
        <div role="gridcell" class={styles["folded"]}>
          <button type="button" onClick={() => comparison.unfold(line.place)}>
            {`${formatCount(line.rows.length)} rows say the same`}
          </button>
        </div>
      </div>
    );
  }
  const { row } = line;
  const read = (): void => {
    comparison.select(row);
    onRead();
  };
  // On a phone, what both say is there once.
  const isOnce = isNarrow && row.likeness !== "different";
  const showsLeft = !isOnce || row.left !== null;
  const showsRight = !isOnce || row.left === null;
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      class={[
        styles["row"],
        styles[row.likeness],
        isOnce ? styles["once"] : "",
        isSelected ? styles["selected"] : "",
        isParting ? styles["parting"] : "",
      ].join(" ")}
      style={place}
      onClick={read}
    >
      {showsLeft && <Cell side={row.left} row={row} isParting={isParting} isNarrow={isNarrow} />}
      <div role="gridcell" class={styles["sign"]} title={WORDS[row.likeness]}>
        <span aria-hidden="true">{SIGNS[row.likeness]}</span>
        <span class="unseen">{WORDS[row.likeness]}</span>
      </div>
      {showsRight && <Cell side={row.right} row={row} isParting={isParting && row.left === null} isNarrow={isNarrow} />}
    </div>
  );
}

interface CellProps {
  readonly side: RunRow | null;
  readonly row: ComparedRow;
  readonly isParting: boolean;
  readonly isNarrow: boolean;
}

function Cell({ side, row, isParting, isNarrow }: CellProps): VNode {
  if (side === null) return <div role="gridcell" aria-label="nothing" class={styles["nothing"]} />;
  const tokens = tokensOf(side.sums);
  const detail = side === row.left ? row.details?.left : row.details?.right;
  const took = side.endedAt === null ? "running" : formatDuration(side.endedAt - side.startedAt);
  const indent = isNarrow ? (row.level - 1) * NARROW_INDENT : 16 + (row.level - 1) * INDENT;
  return (
    <div role="gridcell" class={styles["cell"]} style={{ paddingLeft: `${indent}px` }}>
      <KindGlyph kind={side.kind} />
      <span class={styles["word"]}>{wordOf(side)}</span>
      <span class={styles["words"]}>{firstWords(side)}</span>
      {detail !== undefined && (
        <span class={styles["detail"]}>{`→ ${toSafeText(detail, { maxCharacters: 160 })}`}</span>
      )}
      {row.likeness === "inside" && side === row.left && (
        <span aria-hidden="true" class={styles["inner"]}>
          {WORDS.inside}
        </span>
      )}
      {isParting && <span class={styles["flag"]}>{isNarrow ? "they part" : "the runs part here"}</span>}
      <span class={styles["facts"]}>{[tokens > 0 ? formatCount(tokens) : "", took].filter(Boolean).join(" · ")}</span>
    </div>
  );
}
