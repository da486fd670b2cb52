// Recorded events by range, as they are stored. Only their lines are read, wherever they are in the log.

import type { FileHandle } from "node:fs/promises";
import { readExactly } from "../../../util/bytes/read-exactly.ts";
import type { IndexedRun } from "./indexed-run.ts";
import type { TableEntry } from "./line-table.ts";

const DEFAULT_EVENTS = 200;
/** Of one page, unless a single line has more. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Lines that are this close are read together. */
const MAX_GAP_BYTES = 32 * 1024;

export interface EventRange {
  /** The number of the last event that was seen. Default: 0. */
  readonly after?: number;
  /** Default: 200. */
  readonly limit?: number;
  /** Default: all of the run. */
  readonly nodeId?: string;
  /** Of the node. Default: all. */
  readonly step?: number;
}

export interface StoredPage {
  /** One JSON text for each event. */
  readonly lines: readonly string[];
  /** The number of the last event. Null: there are no more now. */
  readonly next: number | null;
}

export async function readEventPage(
  run: IndexedRun,
  { after = 0, limit = DEFAULT_EVENTS, ...only }: EventRange,
): Promise<StoredPage> {
  const { entries, next } = choose(run.lines.after(after, only), limit);
  if (entries.length === 0) return { lines: [], next };
  const file = await run.folder.openEvents();
  try {
    const lines: string[] = [];
    for (const group of groupNear(entries)) lines.push(...(await readLines(file, group)));
    return { lines, next };
  } finally {
    await file.close();
  }
}

/** The events of a page, and the cursor of the next one. */
function choose(found: Iterable<TableEntry>, limit: number): { entries: readonly TableEntry[]; next: number | null } {
  const entries: TableEntry[] = [];
  let bytes = 0;
  for (const entry of found) {
    bytes += entry.bytes;
    const last = entries.at(-1);
    if (last !== undefined && (entries.length >= limit || bytes > MAX_PAGE_BYTES)) return { entries, next: last.seq };
    entries.push(entry);
  }
  return { entries, next: null };
}

function* groupNear(entries: readonly TableEntry[]): Generator<readonly TableEntry[]> {
  let group: TableEntry[] = [];
  let end = 0;
  for (const entry of entries) {
    if (group.length > 0 && entry.offset - end > MAX_GAP_BYTES) {
      yield group;
      group = [];
    }
    group.push(entry);
    end = entry.offset + entry.bytes;
  }
  if (group.length > 0) yield group;
}

async function readLines(file: FileHandle, group: readonly TableEntry[]): Promise<string[]> {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return [];
  const length = last.offset + last.bytes - first.offset;
  const data = await readExactly(file, first.offset, length);
  if (data.length < length) throw new Error("Cannot read events of a run: its log has changed");
  return group.map(({ offset, bytes }) => {
    const start = offset - first.offset;
    return data.toString("utf8", start, start + bytes - 1);
  });
}
