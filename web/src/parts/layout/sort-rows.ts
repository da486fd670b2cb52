// The order of rows in a table.

/** Null: not known. It goes to the end, whatever the direction. */
export type SortKey = string | number | null;

export interface Sorting {
  /** The id of the column. */
  readonly column: string;
  readonly isDescending: boolean;
}

const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** A sorted copy. Equal rows keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => SortKey,
  isDescending: boolean,
): readonly Row[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    const order = compare(a.key, b.key);
    return isDescending ? -order : order;
  });
  return keyed.map(({ row }) => row);
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return words.compare(String(a), String(b));
}
