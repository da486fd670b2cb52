// Options of inspections, checked where they enter, and conversion of cursors between UTF-16 code units and code points.

import type { TablePart } from "../../protocol/worker/host-messages.ts";
import { MAX_ROW_CELLS, MAX_ROWS } from "../../protocol/worker/limits.ts";

export interface VariablesOptions {
  /** Include names that begin with an underscore. Default: false. */
  readonly all?: boolean;
}

export interface LookOptions {
  /** For user code that the inspection runs: at most 30 s. Default: 2 s. */
  readonly timeoutMs?: number;
}

export interface InspectOptions extends LookOptions {
  /** Of `repr` and `str`, each: at most 1,000,000. Default: 10,000. */
  readonly maxCharacters?: number;
}

export interface RowsOptions extends LookOptions, Partial<Omit<TablePart, "sortBy">> {
  /** The position of the column to sort by. Default: the order of the value itself. */
  readonly sortBy?: number;
}

const DEFAULT_ROWS = 100;
const DEFAULT_TIMEOUT_MS = 2_000;
const MAX_TIMEOUT_MS = 30_000;
const DEFAULT_CHARACTERS = 10_000;
const MAX_CHARACTERS = 1_000_000;
const MAX_CODE = 1024 * 1024;
/** Python's indexes are larger, but no table is. */
const MAX_POSITION = 2 ** 52;

export function checkInspectOptions(name: string, options: InspectOptions): Required<InspectOptions> {
  if (typeof name !== "string") throw new TypeError(`Cannot inspect a ${typeof name}: it must be a name`);
  const { maxCharacters = DEFAULT_CHARACTERS } = options;
  checkRange("maxCharacters", maxCharacters, MAX_CHARACTERS);
  return { timeoutMs: checkTimeout(options), maxCharacters };
}

export function checkRowsOptions(
  name: string,
  options: RowsOptions,
): { readonly timeoutMs: number; readonly part: TablePart } {
  if (typeof name !== "string") throw new TypeError(`Cannot list the rows of a ${typeof name}: it must be a name`);
  const { start = 0, count = DEFAULT_ROWS, columnStart = 0, columnCount = MAX_ROW_CELLS } = options;
  const { sortBy = null, descending = false } = options;
  checkRange("start", start, MAX_POSITION, 0);
  checkRange("count", count, MAX_ROWS);
  checkRange("columnStart", columnStart, MAX_POSITION, 0);
  checkRange("columnCount", columnCount, MAX_ROW_CELLS);
  if (sortBy !== null) checkRange("sortBy", sortBy, MAX_POSITION, 0);
  const part = { start, count, columnStart, columnCount, sortBy, descending };
  return { timeoutMs: checkTimeout(options), part };
}

/** Returns the time limit. */
export function checkCode(code: string, cursor: number, options: LookOptions): number {
  if (typeof code !== "string") throw new TypeError(`Cannot look at a ${typeof code}: code must be a string`);
  if (code.length > MAX_CODE) throw new RangeError(`Cannot look at code of ${code.length} characters: too long`);
  if (!Number.isSafeInteger(cursor) || cursor < 0 || cursor > code.length) {
    throw new RangeError(`Cannot use ${cursor} as cursor: it must be a position in the code`);
  }
  return checkTimeout(options);
}

/** The number of code points before an index of a JavaScript string. */
export function toCodePoints(text: string, index: number): number {
  let points = 0;
  for (let at = 0; at < index; at += (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1) points += 1;
  return points;
}

/** The inverse. */
export function toCodeUnits(text: string, points: number): number {
  let at = 0;
  for (let count = 0; count < points; count += 1) at += (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1;
  return at;
}

function checkTimeout({ timeoutMs = DEFAULT_TIMEOUT_MS }: LookOptions): number {
  checkRange("timeoutMs", timeoutMs, MAX_TIMEOUT_MS);
  return timeoutMs;
}

function checkRange(name: string, value: number, maximum: number, minimum = 1): void {
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return;
  throw new RangeError(`Cannot use ${value} as ${name}: it must be a whole number from ${minimum} to ${maximum}`);
}
