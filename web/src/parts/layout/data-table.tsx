// A table of up to some hundred rows: the header stays, columns sort, and it scrolls inside of its place.

import type { ComponentChildren, VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";
import styles from "./data-table.module.css";
import { sortRows, type Sorting, type SortKey } from "./sort-rows.ts";

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** The title is for readers of the screen only. */
  readonly hasHiddenTitle?: boolean;
  /** Numbers go to the right, with figures of one width. */
  readonly isNumber?: boolean;
  /** Absent: the column does not sort. */
  readonly sortBy?: (row: Row) => SortKey;
  readonly render: (row: Row) => ComponentChildren;
  /** Left out where the window is narrow. */
  readonly isExtra?: boolean;
  /** Takes the room that is left; longer content is cut. */
  readonly isWide?: boolean;
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Absent: in the order of the rows. */
  readonly sorting?: Sorting;
  /** The row that is open beside the table. */
  readonly current?: string | undefined;
  /** This many rows are shown, and as many more on demand. Default: 100. */
  readonly pageRows?: number;
  /** Makes rows pressable. The first column should have a link that does the same, for the keyboard. */
  readonly onOpen?: (row: Row) => void;
}

export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  sorting: first,
  current,
  pageRows = 100,
  onOpen,
}: DataTableProps<Row>): VNode {
  const [sorting, setSorting] = useState(first);
  const sorted = useMemo(() => {
    const column = columns.find(({ id }) => id === sorting?.column);
    return column?.sortBy === undefined || sorting === undefined
      ? rows
      : sortRows(rows, column.sortBy, sorting.isDescending);
  }, [rows, columns, sorting]);
  const [limit, setLimit] = useState(pageRows);
  const press = (row: Row, { target }: MouseEvent): void => {
    const isOther = target instanceof Element && target.closest("a, button, input, label") !== null;
    if (!isOther && getSelection()?.isCollapsed !== false) onOpen?.(row);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls can be reached with the keyboard
    <div class={styles["scroller"]} role="region" aria-label={label} tabIndex={0}>
      <table class={styles["table"]}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.id} column={column} sorting={sorting} onSort={setSorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, limit).map((row) => (
            <tr
              key={keyOf(row)}
              class={onOpen && styles["pressable"]}
              aria-current={current !== undefined && keyOf(row) === current ? "true" : undefined}
              onClick={onOpen && ((event) => press(row, event))}
            >
              {columns.map((column) => (
                <td key={column.id} class={cellClass(column)}>
                  {column.render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > limit && (
        <p class={styles["more"]}>
          <span class="figures">
            {limit.toLocaleString("en")} of {sorted.length.toLocaleString("en")}
          </span>
          <Button onClick={() => setLimit(limit + pageRows)}>Show more</Button>
        </p>
      )}
    </div>
  );
}

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting) => void;
}

function Heading<Row>({ column, sorting, onSort }: HeadingProps<Row>): VNode {
  const isSorted = sorting?.column === column.id;
  const isDescending = isSorted && sorting.isDescending;
  if (column.sortBy === undefined) {
    return (
      <th scope="col" class={cellClass(column)}>
        {column.hasHiddenTitle === true ? <span class="unseen">{column.title}</span> : column.title}
      </th>
    );
  }
  // Numbers are most often wanted from the largest on.
  const next = isSorted ? !isDescending : column.isNumber === true;
  return (
    <th
      scope="col"
      class={cellClass(column)}
      aria-sort={isSorted ? (isDescending ? "descending" : "ascending") : "none"}
    >
      <button type="button" class={styles["sort"]} onClick={() => onSort({ column: column.id, isDescending: next })}>
        {column.title}
        {isSorted && <Icon name={isDescending ? "chevron-down" : "chevron-up"} />}
      </button>
    </th>
  );
}

function cellClass<Row>({ isNumber, isExtra, isWide }: Column<Row>): string {
  return [isNumber && styles["number"], isExtra && styles["extra"], isWide && styles["wide"]].filter(Boolean).join(" ");
}
