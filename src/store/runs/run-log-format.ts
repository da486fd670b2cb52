// The format of a recorded run, as docs/trajectories.md describes it: what both its writer and its readers know.

import { byteLength } from "../../util/bytes/byte-length.ts";
import { dataPath } from "../../util/data-folder.ts";

export const SCHEMA_VERSION = 1;

/** A longer string is a blob. */
const INLINE_BYTES = 2048;
/** A field that is still longer when its long strings are blobs is a blob as a whole. */
export const FIELD_BYTES = 16 * 1024;
export const CHUNK_BYTES = 1024 * 1024;
/** Longer lines are neither written nor read. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
export const MAX_META_BYTES = 64 * 1024;
/** A younger folder without `meta.json` is that of a run that begins. */
export const BEGINNING_MS = 60_000;
const HEAD_CHARACTERS = 200;

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const DIGEST = /^[0-9a-f]{64}$/;
/** Keys that mean something in the file. As keys of recorded data they get one more `$`. */
export const MARKER = /^\$+(?:blob|same)$/;

/** In place of a value that is in `blobs/`. */
export interface BlobReference {
  readonly $blob: string;
  readonly bytes: number;
  readonly head: string;
  /** Absent: the blob is the string in UTF-8. `json`: it is the value as JSON, in which there may be references again. */
  readonly encoding?: "json";
}

/** In place of the first messages of a call: they are those of an earlier call of the same node. */
export interface SameMessages {
  readonly $same: string;
  readonly count: number;
}

/** A context as it was recorded. */
export interface RecordedContext {
  readonly name: string;
  /** Null: it could not be read. */
  readonly bytes: number | null;
  readonly sha256: string | null;
  /** Blobs, to be put one after the other. Null: it was not kept. */
  readonly chunks: readonly string[] | null;
  /** Why it was not kept: too large, a key in it, or it could not be read. */
  readonly omitted: "size" | "secret" | "unreadable" | null;
}

/** Who writes a log, so that others can tell whether it still does. */
export interface LogWriter {
  readonly pid: number;
  readonly host: string;
  /** Of the process, in whatever unit the system counts; null where it does not tell. */
  readonly since: string | null;
}

export function isRunId(value: string): boolean {
  return RUN_ID.test(value);
}

export function runsFolder(): string {
  return dataPath("runs");
}

/** The beginning of a text, for people. */
export function toHead(text: string, characters = HEAD_CHARACTERS): string {
  return text.slice(0, characters).replace(/\p{Surrogate}$/u, "");
}

export function isLong(text: string): boolean {
  return text.length > INLINE_BYTES || (text.length * 3 > INLINE_BYTES && byteLength(text) > INLINE_BYTES);
}
