// The rows of one variable, read as they come into view, in pages that are kept until the order or the value changes.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { InspectedVariable, Session, VariableRows } from "rlm-runtime/client";
import { SlotQueue } from "./slot-queue.ts";

export interface Sorting {
  /** The position of the column. */
  readonly column: number;
  readonly isDescending: boolean;
}

export interface TableShape {
  readonly columns: VariableRows["columns"];
  /** All columns of the value. */
  readonly totalColumns: number;
  readonly total: number;
  /** Where the shown columns begin. */
  readonly columnStart: number;
}

export interface TableRow {
  readonly index: string;
  readonly cells: readonly string[];
}

export type TableStatus = { readonly state: "reading" | "ready" } | { readonly state: "failed"; readonly why: string };

const PAGE_ROWS = 100;
export const PAGE_COLUMNS = 50;
const MAX_PAGES = 60;

export class TableRows {
  readonly #shape = signal<TableShape | undefined>(undefined);
  readonly #status = signal<TableStatus>({ state: "reading" });
  readonly #sorting = signal<Sorting | undefined>(undefined);
  /** Grows with every page that came. */
  readonly #version = signal(0);
  readonly #session: Session;
  readonly #name: string;
  readonly #readers = new SlotQueue(2);
  #pages = new Map<number, readonly TableRow[]>();
  #reading = new Set<number>();
  #columnStart = 0;
  /** What was asked for before is of another order or value. */
  #epoch = 0;

  constructor(session: Session, name: string) {
    this.#session = session;
    this.#name = name;
  }

  /** Undefined: not known yet. */
  get shape(): ReadonlySignal<TableShape | undefined> {
    return this.#shape;
  }

  get status(): ReadonlySignal<TableStatus> {
    return this.#status;
  }

  get sorting(): ReadonlySignal<Sorting | undefined> {
    return this.#sorting;
  }

  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  /** Reads it again, as the value may have changed. What is shown stays until the new rows are there. */
  refresh(): void {
    this.#epoch += 1;
    this.#reading.clear();
    void this.#read(0, true);
  }

  /** From the smallest, then from the largest, then in its own order. */
  sortBy(column: number): void {
    const { value: last } = this.#sorting;
    if (last?.column !== column) this.#sorting.value = { column, isDescending: false };
    else this.#sorting.value = last.isDescending ? undefined : { column, isDescending: true };
    this.refresh();
  }

  showColumns(start: number): void {
    this.#columnStart = start;
    this.refresh();
  }

  /** Undefined: it is being read. */
  rowAt(position: number): TableRow | undefined {
    const page = Math.floor(position / PAGE_ROWS);
    const rows = this.#pages.get(page);
    if (rows === undefined) this.#want(page);
    return rows?.[position - page * PAGE_ROWS];
  }

  #want(page: number): void {
    if (this.#reading.has(page) || this.#status.value.state === "failed") return;
    this.#reading.add(page);
    const epoch = this.#epoch;
    void this.#readers.run(async () => {
      if (epoch === this.#epoch) await this.#read(page, false);
    });
  }

  async #read(page: number, isFirst: boolean): Promise<void> {
    const epoch = this.#epoch;
    const sorting = this.#sorting.value;
    try {
      const part = await this.#session.rows(this.#name, {
        start: page * PAGE_ROWS,
        count: PAGE_ROWS,
        columnStart: this.#columnStart,
        columnCount: PAGE_COLUMNS,
        ...(sorting !== undefined && { sortBy: sorting.column, descending: sorting.isDescending }),
        timeoutMs: 10_000,
      });
      if (epoch !== this.#epoch) return;
      if (part === null) return this.#fail("There is no such name any more");
      if (part.error !== undefined) return this.#fail(part.error);
      if (part.incomplete !== null && part.rows.length === 0) return this.#fail(REASONS[part.incomplete]);
      this.#keep(page, part, isFirst);
    } catch (error) {
      if (epoch === this.#epoch) this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  #keep(page: number, part: VariableRows, isFirst: boolean): void {
    if (isFirst) this.#pages = new Map();
    this.#pages.set(
      page,
      part.rows.map((cells, place) => ({ index: part.index[place] ?? "", cells })),
    );
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    this.#reading.delete(page);
    const { columns, columnStart } = part;
    const total = part.total ?? page * PAGE_ROWS + part.rows.length;
    this.#shape.value = { columns, columnStart, total, totalColumns: part.totalColumns ?? columns.length };
    this.#status.value = { state: "ready" };
    this.#version.value += 1;
  }

  #fail(why: string): void {
    this.#status.value = { state: "failed", why };
  }
}

const REASONS = {
  timeout: "The time was up",
  crashed: "The process that read it crashed",
  "no-process": "No process could be started to read it",
} as const;

const PLAIN = new Set(["list", "tuple", "set", "frozenset", "dict"]);

/** Whether it is worth a table: frames, arrays, and the containers of Python. */
export function canHaveRows({ type, shape, columns, length }: InspectedVariable): boolean {
  if (columns !== undefined) return true;
  if (shape !== undefined) return shape.length > 0;
  return PLAIN.has(type) && (length ?? 0) > 0;
}
