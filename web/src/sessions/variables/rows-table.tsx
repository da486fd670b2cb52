// A table of any length: the header stays, rows are read as they come into view, a column sorts the whole of it.

import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Session } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { Icon } from "../../parts/icon.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { useVirtualizer } from "../../parts/use-virtualizer.ts";
import { PAGE_COLUMNS, TableRows, type TableShape } from "../../state/sessions/table-rows.ts";
import styles from "./rows-table.module.css";

interface RowsTableProps {
  readonly name: string;
  readonly session: Session;
  /** Another one: the value may have changed. */
  readonly version: number;
}

export function RowsTable({ name, session, version }: RowsTableProps): VNode {
  const rows = useMemo(() => new TableRows(session, name), [session, name]);
  useEffect(() => rows.refresh(), [rows, version]);
  const status = rows.status.value;
  const shape = rows.shape.value;
  if (status.state === "failed") {
    return (
      <p class={styles["note"]} role="alert">
        {toSafeText(status.why)}
      </p>
    );
  }
  return shape === undefined ? (
    <Skeleton lines={6} label="Loading the rows" />
  ) : (
    <Table rows={rows} shape={shape} name={name} />
  );
}

const ROW_PX = 28;
/** Browsers cannot scroll further than some millions of pixels. */
const MAX_ROWS = 400_000;

interface TableProps {
  readonly rows: TableRows;
  readonly shape: TableShape;
  readonly name: string;
}

function Table({ rows, shape, name }: TableProps): VNode {
  const scroller = useRef<HTMLDivElement>(null);
  const count = Math.min(shape.total, MAX_ROWS);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  // Pages that come draw it again.
  void rows.version.value;
  const items = virtualizer.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div class={styles["table"]}>
      <div
        ref={scroller}
        class={styles["scroller"]}
        tabIndex={0}
        role="region"
        aria-label={`Rows of ${toSafeText(name)}`}
      >
        <table aria-rowcount={shape.total + 1} aria-colcount={shape.totalColumns + 1}>
          <Headings rows={rows} shape={shape} />
          <tbody>
            <Space px={before} />
            {items.map(({ index, key }) => {
              const row = rows.rowAt(index);
              return (
                <tr key={key} aria-rowindex={index + 2}>
                  <th scope="row">{row === undefined ? "" : toSafeText(row.index)}</th>
                  {shape.columns.map((column, place) => (
                    <td key={place} class={isNumber(column.dtype) ? styles["number"] : ""}>
                      {row === undefined ? "…" : toSafeText(row.cells[place] ?? "")}
                    </td>
                  ))}
                </tr>
              );
            })}
            <Space px={after} />
          </tbody>
        </table>
      </div>
      <Foot rows={rows} shape={shape} shown={count} />
    </div>
  );
}

function Headings({ rows, shape }: Omit<TableProps, "name">): VNode {
  const sorting = rows.sorting.value;
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th scope="col">
          <span class="unseen">Row</span>
        </th>
        {shape.columns.map(({ name, dtype }, place) => {
          const position = shape.columnStart + place;
          const order = sorting?.column === position ? (sorting.isDescending ? "descending" : "ascending") : "none";
          return (
            <th key={position} scope="col" aria-sort={order} class={isNumber(dtype) ? styles["number"] : ""}>
              <button
                type="button"
                class={styles["sort"]}
                title={`Sort by ${toSafeText(name)}`}
                onClick={() => rows.sortBy(position)}
              >
                <span>{toSafeText(name)}</span>
                {order !== "none" && <Icon name={order === "descending" ? "chevron-down" : "chevron-up"} />}
                <small>{toSafeText(dtype)}</small>
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function Foot({ rows, shape, shown }: Omit<TableProps, "name"> & { readonly shown: number }): VNode {
  const { columnStart, columns, totalColumns, total } = shape;
  const end = columnStart + columns.length;
  const isPart = totalColumns > columns.length;
  const size = isPart ? toCount(total, "row") : `${toCount(total, "row")} × ${toCount(totalColumns, "column")}`;
  return (
    <footer class={`figures ${styles["foot"]}`}>
      <span>{shown < total ? `${size}; the first ${shown.toLocaleString("en")} rows` : size}</span>
      {isPart && (
        <span class={styles["columns"]}>
          <Button
            kind="quiet"
            aria-label="Columns before"
            disabled={columnStart === 0}
            onClick={() => rows.showColumns(Math.max(0, columnStart - PAGE_COLUMNS))}
          >
            <Icon name="chevron-left" />
          </Button>
          columns {columnStart + 1}–{end} of {totalColumns.toLocaleString("en")}
          <Button
            kind="quiet"
            aria-label="Columns after"
            disabled={end >= totalColumns}
            onClick={() => rows.showColumns(end)}
          >
            <Icon name="chevron-right" />
          </Button>
        </span>
      )}
    </footer>
  );
}

function toCount(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

function Space({ px }: { readonly px: number }): VNode | null {
  return px <= 0 ? null : <tr aria-hidden="true" style={{ height: `${px}px` }} />;
}

function isNumber(dtype: string): boolean {
  return /^(?:u?int|float|complex|number|decimal)/i.test(dtype);
}
