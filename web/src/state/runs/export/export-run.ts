// Exports a run as one HTML file that opens without a server: collects its events and texts, as many as fit, and puts them into the viewer.

import { formatBytes } from "../../../parts/format.ts";
import { toExportParts } from "./export-file.ts";
import type { RecordedEvent, RunSource } from "../run-source.ts";
import { isRecord, toReference } from "../run-text.ts";

export interface ExportOptions {
  readonly signal: AbortSignal;
  /** How much is done, from 0 to 1. */
  onProgress(done: number): void;
}

const PAGE = 1_000;
/** Events that the viewer parses at once. */
const PIECE = 100;
/** All events and texts together. A browser opens a file of that size in a second or two. */
const MAX_BYTES = 64_000_000;
/** One text. */
const MAX_TEXT_BYTES = 2_000_000;
/** Texts that are loaded at the same time. */
const AT_ONCE = 4;

/** `viewer`: the page that shows it. */
export async function exportRun(viewer: string, source: RunSource, options: ExportOptions): Promise<Blob> {
  const outline = await source.outline();
  const collected = await collectEvents(source, outline.seq, options);
  const texts = await collectTexts(source, collected, options);
  const omitted = [collected.omitted, texts.omitted].filter(Boolean).join("; ");
  const parts = toExportParts(viewer, { outline, pieces: collected.pieces, blobs: texts.blobs, omitted });
  return new Blob([...parts], { type: "text/html" });
}

interface CollectedEvents {
  readonly pieces: readonly (readonly RecordedEvent[])[];
  /** Texts that are stored apart: their sizes by hash. */
  readonly blobs: ReadonlyMap<string, number>;
  readonly bytes: number;
  readonly omitted: string;
}

async function collectEvents(source: RunSource, last: number, options: ExportOptions): Promise<CollectedEvents> {
  const pieces: (readonly RecordedEvent[])[] = [];
  const blobs = new Map<string, number>();
  let [after, bytes] = [0, 0];
  while (after < last) {
    options.signal.throwIfAborted();
    const events = await source.events({ after, limit: PAGE });
    const end = events.at(-1);
    if (end === undefined) break;
    bytes += JSON.stringify(events).length;
    if (bytes > MAX_BYTES) {
      return { pieces, blobs, bytes, omitted: `Events after number ${after} are left out: the run is too large` };
    }
    for (let at = 0; at < events.length; at += PIECE) pieces.push(events.slice(at, at + PIECE));
    for (const event of events) findBlobs(event, blobs);
    after = end.seq;
    options.onProgress((0.5 * after) / last);
  }
  return { pieces, blobs, bytes, omitted: "" };
}

const MAX_DEPTH = 12;

function findBlobs(value: unknown, blobs: Map<string, number>, depth = 0): void {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return;
  const reference = toReference(value);
  if (reference !== undefined) blobs.set(reference.hash, reference.bytes);
  else if (Array.isArray(value)) for (const item of value) findBlobs(item, blobs, depth + 1);
  else if (isRecord(value)) for (const item of Object.values(value)) findBlobs(item, blobs, depth + 1);
}

interface CollectedTexts {
  readonly blobs: ReadonlyMap<string, string>;
  readonly omitted: string;
}

async function collectTexts(
  source: RunSource,
  { blobs: found, bytes: used }: CollectedEvents,
  { signal, onProgress }: ExportOptions,
): Promise<CollectedTexts> {
  // Short ones first: most of what people read fits.
  const sorted = [...found].toSorted(([, a], [, b]) => a - b);
  const wanted: string[] = [];
  let room = MAX_BYTES - used;
  for (const [hash, bytes] of sorted) {
    if (bytes > MAX_TEXT_BYTES || bytes > room) break;
    room -= bytes;
    wanted.push(hash);
  }
  const blobs = new Map<string, string>();
  room = MAX_BYTES - used;
  for (let index = 0; index < wanted.length; index += AT_ONCE) {
    signal.throwIfAborted();
    const hashes = wanted.slice(index, index + AT_ONCE);
    // One that is missing or damaged does not keep the others from being exported.
    const texts = await Promise.all(hashes.map((hash) => source.blob(hash).catch(() => undefined)));
    for (const [at, hash] of hashes.entries()) {
      const text = texts[at];
      // It may be longer than its reference says.
      if (text === undefined || text.length > MAX_TEXT_BYTES || text.length > room) continue;
      room -= text.length;
      blobs.set(hash, text);
    }
    onProgress(0.5 + (0.5 * index) / wanted.length);
  }
  const left = sorted.filter(([hash]) => !blobs.has(hash));
  const leftBytes = left.reduce((sum, [, bytes]) => sum + bytes, 0);
  const omitted =
    left.length === 0
      ? ""
      : `${left.length} long texts (${formatBytes(leftBytes)}) are left out but for their beginnings`;
  return { blobs, omitted };
}
