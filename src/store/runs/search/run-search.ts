// Full-text search in a recorded run, a part at a time: each takes a bounded time, and says where the next one continues.

import type { RunMatch, RunSearchAnswer } from "../../../protocol/run-outline/run-outline.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import type { IndexedRun } from "../indexed/indexed-run.ts";
import type { TableEntry } from "../indexed/line-table.ts";
import { LogLines } from "../log-lines.ts";
import { MAX_LINE_BYTES } from "../run-log-format.ts";
import { textsOf } from "./event-texts.ts";
import { TextPattern } from "./text-pattern.ts";
import { TextSearch } from "./text-search.ts";

const DEFAULT_MATCHES = 100;
/** Of one event. */
const MAX_EVENT_MATCHES = 100;
const DEFAULT_BUDGET_MS = 500;
const PIECE_BYTES = 256 * 1024;

export interface RunSearchRequest {
  /** The number of the last event that was searched. Default: 0. */
  readonly after?: number;
  /** Ends with the event in which there are so many. Default: 100. */
  readonly limit?: number;
  /** Ends after this time, but not before one event was searched. Default: 500 ms. */
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
}

/** Throws the reason of the signal. */
export async function searchRun(
  run: IndexedRun,
  text: string,
  { after = 0, limit = DEFAULT_MATCHES, budgetMs = DEFAULT_BUDGET_MS, signal }: RunSearchRequest = {},
): Promise<RunSearchAnswer> {
  const search = new TextSearch(run.folder, new TextPattern(text), signal);
  const endsAt = performance.now() + budgetMs;
  const matches: RunMatch[] = [];
  let last: TableEntry | undefined;
  for await (const [entry, json] of linesOf(run, after)) {
    signal?.throwIfAborted();
    const isOver = matches.length >= limit || performance.now() >= endsAt;
    if (last !== undefined && isOver) return { matches, next: last.seq };
    last = entry;
    if (!json.includes('"$blob"') && !(await search.mayBeIn(json))) continue;
    for await (const match of matchesIn(entry, json, search)) matches.push(match);
  }
  return { matches, next: null };
}

async function* matchesIn(entry: TableEntry, json: string, search: TextSearch): AsyncGenerator<RunMatch, void> {
  const event = (parseJSON(json) ?? {}) as Readonly<Record<string, unknown>>;
  const { callId } = event;
  const { seq, nodeId, step } = entry;
  let left = MAX_EVENT_MATCHES;
  search.beginEvent();
  for (const { field, stream, value } of textsOf(event)) {
    const found = await search.find(value);
    if (found === undefined) continue;
    const { before, text, after } = found;
    const place = { seq, nodeId, step, callId: typeof callId === "string" ? callId : null, field };
    yield { ...place, ...(stream !== undefined && { stream }), before, text, after };
    left -= 1;
    if (left === 0) return;
  }
}

/** The events after one, each with its line. Long stretches without events, which are damaged, are skipped and not read. */
async function* linesOf(run: IndexedRun, after: number): AsyncGenerator<readonly [TableEntry, string], void> {
  const entries = run.lines.after(after);
  let entry = entries.next().value as TableEntry | undefined;
  if (entry === undefined) return;
  const file = await run.folder.openEvents();
  try {
    for (let isFar = true; isFar;) {
      isFar = false;
      const lines = new LogLines(file, MAX_LINE_BYTES, { offset: entry.offset, pieceBytes: PIECE_BYTES });
      for await (const { offset, bytes, text } of lines.read()) {
        if (text !== null && offset === entry.offset) {
          yield [entry, text];
          entry = entries.next().value as TableEntry | undefined;
          if (entry === undefined) return;
        }
        isFar = entry.offset - (offset + bytes) > PIECE_BYTES;
        if (isFar) break;
      }
    }
  } finally {
    await file.close();
  }
}
