// A table as data: the header stays, columns sort, and it scrolls in its place. Rows and columns are added as the reader asks for them.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Button } from "../../button.tsx";
import { Icon } from "../../icon.tsx";
import { sortRows, type Sorting } from "../../layout/sort-rows.ts";
import { toSafeText } from "../../safe-text.ts";
import styles from "./table-output.module.css";
import type { Cell, TableColumn, TableResource } from "./table-resource.ts";

const FIRST_ROWS = 50;
const MORE_ROWS = 250;
const FIRST_COLUMNS = 40;
const MORE_COLUMNS = 100;
const MAX_CELL_CHARACTERS = 200;

type Row = TableResource["rows"][number];

export function TableOutput({ table }: { readonly table: TableResource }): VNode {
  const [sorting, setSorting] = useState<Sorting>();
  const [shownRows, setShownRows] = useState(FIRST_ROWS);
  const [shownColumns, setShownColumns] = useState(FIRST_COLUMNS);
  const sorted = useMemo(() => sort(table, sorting), [table, sorting]);
  const columns = table.columns.slice(0, shownColumns);
  const rows = sorted.slice(0, shownRows);
  const size = `${exactly(table.totalRows)} rows × ${exactly(table.totalColumns)} columns`;
  return (
    <figure class={styles["figure"]}>
      <div class={styles["scroller"]} role="region" aria-label={`Table of ${size}`} tabIndex={0}>
        <table class={styles["table"]}>
          <thead>
            <tr>
              {columns.map((column, index) => (
                <Heading key={index} column={column} id={String(index)} sorting={sorting} onSort={setSorting} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <TableRow key={index} row={row} columns={columns} />
            ))}
          </tbody>
        </table>
      </div>
      <figcaption class={styles["caption"]}>
        <span>{describe(table, size)}</span>
        {rows.length < sorted.length && (
          <Button onClick={() => setShownRows(shownRows + MORE_ROWS)}>
            {more(Math.min(MORE_ROWS, sorted.length - rows.length), "row")}
          </Button>
        )}
        {columns.length < table.columns.length && (
          <Button onClick={() => setShownColumns(shownColumns + MORE_COLUMNS)}>
            {more(Math.min(MORE_COLUMNS, table.columns.length - columns.length), "column")}
          </Button>
        )}
      </figcaption>
    </figure>
  );
}

function sort({ columns, rows }: TableResource, sorting: Sorting | undefined): readonly Row[] {
  const at = Number(sorting?.column);
  if (sorting === undefined || columns[at] === undefined) return rows;
  return sortRows(rows, (row) => toSortKey(row[at] ?? null), sorting.isDescending);
}

function toSortKey(cell: Cell): string | number | null {
  return typeof cell === "boolean" ? Number(cell) : cell;
}

/** What is not here cannot be sorted or shown, so it is said. */
function describe({ rows, totalRows }: TableResource, size: string): string {
  return rows.length < totalRows ? `${size}, of which the first ${exactly(rows.length)} rows are here` : size;
}

interface HeadingProps {
  readonly column: TableColumn;
  readonly id: string;
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting | undefined) => void;
}

/** Pressed three times, the order is that of the table again. */
function Heading({ column, id, sorting, onSort }: HeadingProps): VNode {
  const { name, isNumber, isKey } = column;
  const direction = sorting?.column !== id ? "none" : sorting.isDescending ? "descending" : "ascending";
  const next = { none: false, ascending: true, descending: undefined }[direction];
  const press = (): void => onSort(next === undefined ? undefined : { column: id, isDescending: next });
  return (
    <th scope="col" class={cellClass(isNumber, isKey)} aria-sort={direction}>
      <button type="button" class={styles["sort"]} onClick={press}>
        {toSafeText(name, { maxCharacters: 60 }) || <span class={styles["missing"]}>unnamed</span>}
        {direction !== "none" && <Icon name={direction === "descending" ? "chevron-down" : "chevron-up"} />}
      </button>
    </th>
  );
}

function TableRow({ row, columns }: { readonly row: Row; readonly columns: readonly TableColumn[] }): VNode {
  return (
    <tr>
      {columns.map(({ isNumber, isKey }, index) => {
        const cell = row[index] ?? null;
        if (cell === null)
          return (
            <td key={index} class={`${cellClass(isNumber, isKey)} ${styles["missing"]}`}>
              –
            </td>
          );
        const text = toSafeText(String(cell), { maxCharacters: MAX_CELL_CHARACTERS });
        return (
          <td key={index} class={cellClass(isNumber, isKey)}>
            {text}
          </td>
        );
      })}
    </tr>
  );
}

function cellClass(isNumber: boolean, isKey: boolean): string {
  return [isNumber && styles["number"], isKey && styles["key"]].filter(Boolean).join(" ");
}

function more(count: number, what: string): string {
  return `${exactly(count)} more ${what}${count === 1 ? "" : "s"}`;
}

function exactly(count: number): string {
  return count.toLocaleString("en");
}
