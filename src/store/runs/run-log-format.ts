// The format of a recorded run, shared by its writer and its readers. docs/trajectories.md describes it.

import { z } from "zod";
import { WORK_ID } from "../../protocol/ids.ts";
import type { Shape } from "../../protocol/shape.ts";
import { runStatus, stopReason } from "../../protocol/runs.ts";
import { modelUsage } from "../../protocol/usage.ts";
import { byteLength } from "../../util/bytes/byte-length.ts";
import { dataPath } from "../../util/data-folder.ts";

export const SCHEMA_VERSION = 2;

/** Longer strings are stored as blobs. */
const INLINE_BYTES = 2048;
/** A field that is longer than this without its long strings is stored as one blob. */
export const FIELD_BYTES = 16 * 1024;
export const CHUNK_BYTES = 1024 * 1024;
/** Longer lines are neither written nor read. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Of the JSON of a line, or of a blob. */
export const MAX_DEPTH = 250;
export const MAX_META_BYTES = 64 * 1024;
/** A folder without `meta.json` that is younger than this belongs to a run that is starting. */
export const STARTING_MS = 60_000;
const HEAD_CHARACTERS = 200;

export const DIGEST = /^[0-9a-f]{64}$/;
/** Keys with a meaning in the format. As keys of recorded data they are escaped with another `$`. */
export const MARKER = /^\$+(?:blob|same)$/;

/** Stands for the first messages of a call, which are those of an earlier call of the same node. */
export interface SameMessages {
  readonly $same: string;
  readonly count: number;
}

const digest = z.string().regex(DIGEST);

/** A line of `contexts.jsonl`. */
export const recordedContext = z.object({
  name: z.string(),
  /** Null: it could not be read. */
  bytes: z.number().nullable(),
  sha256: z.string().nullable(),
  /** The blobs whose concatenation it is. Null: it was not recorded. */
  chunks: z.array(digest).nullable(),
  /** Why it was not recorded: too large, contains a key, or could not be read. */
  omitted: z.enum(["size", "secret", "unreadable"]).nullable(),
});
export type RecordedContext = Shape<typeof recordedContext>;

/** The process that writes a log, by which readers find out whether it is alive. */
export const logWriter = z.object({
  pid: z.int().min(1),
  host: z.string(),
  /** The start time of the process, in a unit of the system; null: not known. */
  since: z.string().nullable(),
});
export type LogWriter = Shape<typeof logWriter>;

/** Within what a `Date` can have, since those who list runs make one of it. */
const time = z.number().min(0).max(8.64e15);

/** `meta.json`. Fields that only describe the run may be damaged. */
export const runMeta = z.object({
  id: z.string(),
  query: z.string(),
  model: z.string(),
  subModel: z.string(),
  started: time,
  ended: time.nullable().catch(null),
  status: runStatus.nullable().catch(null),
  stopReason: stopReason.nullable().catch(null),
  usage: modelUsage.nullable().catch(null),
  wallMs: z.number().nullable().catch(null),
  bytes: z.number().nullable().catch(null),
  lostEvents: z.number(),
  writer: logWriter.nullable().catch(null),
});
export type RunMeta = Shape<typeof runMeta>;

export function isRunId(value: string): boolean {
  return WORK_ID.test(value);
}

export function runsFolder(): string {
  return dataPath("runs");
}

/** The beginning of a text. */
export function toHead(text: string, characters = HEAD_CHARACTERS): string {
  return text.slice(0, characters).replace(/\p{Surrogate}$/u, "");
}

export function isLong(text: string): boolean {
  return text.length > INLINE_BYTES || (text.length * 3 > INLINE_BYTES && byteLength(text) > INLINE_BYTES);
}
