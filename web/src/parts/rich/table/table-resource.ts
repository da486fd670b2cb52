// A table as data: the format that pandas and polars tables have (Tabular Data Resource), read within bounds.

import { parseShallow } from "../parse-shallow.ts";

export type Cell = string | number | boolean | null;

export interface TableColumn {
  readonly name: string;
  readonly isNumber: boolean;
  /** Identifies the rows, as an index does. */
  readonly isKey: boolean;
}

export interface TableResource {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** Of the table itself; not all of it need be here. */
  readonly totalRows: number;
  readonly totalColumns: number;
}

const MAX_CHARACTERS = 16_000_000;
const MAX_ROWS = 1_000;
const MAX_COLUMNS = 500;
const NUMBERS: readonly unknown[] = ["integer", "number"];

type Fields = Readonly<Record<string, unknown>>;

/** Undefined: it is not such a table. */
export function readTable(content: string): TableResource | undefined {
  return content.length > MAX_CHARACTERS ? undefined : toTable(parseShallow(content));
}

function toTable(resource: unknown): TableResource | undefined {
  if (!isFields(resource) || !isFields(resource["schema"])) return undefined;
  const { schema, data } = resource;
  const { fields, primaryKey } = schema;
  if (!Array.isArray(fields) || !Array.isArray(data)) return undefined;
  const keys: readonly unknown[] = Array.isArray(primaryKey) ? primaryKey : [];
  const columns = fields
    .slice(0, MAX_COLUMNS)
    .filter((field): field is Fields => isFields(field) && typeof field["name"] === "string")
    .map(({ name, type }) => ({ name: String(name), isNumber: NUMBERS.includes(type), isKey: keys.includes(name) }));
  if (columns.length === 0) return undefined;
  const rows = data.slice(0, MAX_ROWS).map((row: unknown) => columns.map(({ name }) => toCell(row, name)));
  const times = new Set(fields.filter((field) => isFields(field) && field["type"] === "datetime").map(nameOf));
  for (const [at, { name }] of columns.entries()) if (times.has(name)) shortenTimes(rows, at);
  const { totalRows, totalColumns } = resource;
  const keyColumns = columns.filter(({ isKey }) => isKey).length;
  return {
    columns,
    rows,
    totalRows: toCount(totalRows, rows.length),
    totalColumns: toCount(totalColumns, columns.length - keyColumns),
  };
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)$/;

/** As pandas prints them: days alone, or whole seconds, if that is all there is in the column. */
function shortenTimes(rows: readonly Cell[][], at: number): void {
  const found = rows.map((row) => row[at] ?? null).filter((cell) => cell !== null);
  const areAll = (pattern: RegExp): boolean => found.every((cell) => typeof cell === "string" && pattern.test(cell));
  if (!areAll(TIME)) return;
  const form = areAll(/T00:00:00\.0+$/) ? "$1" : areAll(/\.0+$/) ? "$1 $2" : "$1 $2$3";
  for (const row of rows) {
    const cell = row[at];
    if (typeof cell === "string") row[at] = cell.replace(TIME, form);
  }
}

function nameOf(field: Fields): unknown {
  return field["name"];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toCell(row: unknown, name: string): Cell {
  const value = isFields(row) && Object.hasOwn(row, name) ? row[name] : null;
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  return JSON.stringify(value);
}

/** The total is at least what is there. */
function toCount(value: unknown, least: number): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? Math.max(value, least) : least;
}
