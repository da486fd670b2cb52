// What a job answers about the files of a session, parsed. Names and sizes in it are the session's, so nothing is trusted.

/** What a name in the working directory stands for. `other`: a named pipe, a socket, a device. */
export type FileKind = "file" | "folder" | "link" | "other";

/** One name in the working directory. */
export interface FileEntry {
  /** Bytes that are not UTF-8 are lone surrogates (U+DC80 to U+DCFF), as in Python, and mean the same bytes when given back. */
  readonly name: string;
  /** Relative to the working directory; `.` for the directory itself. */
  readonly path: string;
  readonly type: FileKind;
  /** In bytes; 0 for all but files. */
  readonly size: number;
  readonly modifiedAt: string;
  /** Permission bits. */
  readonly mode: number;
  /** What a link says; it is not checked and may lead anywhere. Absent for all but links. */
  readonly target?: string;
}

export interface FileListing {
  readonly entries: readonly FileEntry[];
  /** How many are there that `entries` has no room for. */
  readonly omitted: number;
}

/** Something happened to a name. `overflow`: changes below `path` were missed; list it again. */
export type FileChange =
  | { readonly type: "created" | "modified" | "removed" | "overflow"; readonly path: string }
  | { readonly type: "renamed"; readonly path: string; readonly from: string };

const FILE_REASONS = [
  "not-found",
  "exists",
  "not-a-folder",
  "is-a-folder",
  "not-a-file",
  "no-space",
  "too-large",
  "denied",
  // the path leads out
  "refused",
] as const;

export type JobAnswer =
  | { readonly type: "busy" | "ready" }
  | { readonly type: "size"; readonly size: number; readonly modifiedAt: string }
  | { readonly type: "data"; readonly bytes: number }
  | { readonly type: "entry"; readonly entry: FileEntry }
  | { readonly type: "change"; readonly change: FileChange }
  | { readonly type: "done"; readonly omitted: number; readonly made: boolean }
  | { readonly type: "error"; readonly reason: (typeof FILE_REASONS)[number]; readonly why: string };

export const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_DATA_BYTES = 1024 * 1024;

/** `null` for what means nothing to us. */
export function parseJobAnswer(message: unknown): JobAnswer | null {
  if (!isRecord(message)) return null;
  const { type } = message;
  switch (type) {
    case "busy":
    case "ready":
      return { type };
    case "size":
      return parseSize(message);
    case "data":
      return isCount(message["bytes"]) && message["bytes"] <= MAX_DATA_BYTES ? { type, bytes: message["bytes"] } : null;
    case "entry":
      return parseEntry(message);
    case "change":
      return parseChange(message);
    case "done":
      return { type, omitted: isCount(message["omitted"]) ? message["omitted"] : 0, made: message["made"] === true };
    case "error":
      return parseError(message);
    default:
      return null;
  }
}

const KINDS: ReadonlySet<unknown> = new Set(["file", "folder", "link", "other"]);
/** The last millisecond that a date can be. */
const MAX_TIME = 8.64e15;

function parseSize({ size, modifiedMs }: Record<string, unknown>): JobAnswer | null {
  if (!isCount(size) || !isTime(modifiedMs)) return null;
  return { type: "size", size, modifiedAt: new Date(modifiedMs).toISOString() };
}

function parseEntry(message: Record<string, unknown>): JobAnswer | null {
  const { name, path, kind, size, modifiedMs, mode, target } = message;
  if (typeof name !== "string" || typeof path !== "string" || !KINDS.has(kind)) return null;
  if (!isCount(size) || !isCount(mode) || mode > 0o7777) return null;
  if (!isTime(modifiedMs)) return null;
  const modifiedAt = new Date(modifiedMs).toISOString();
  const entry = { name, path, type: kind as FileKind, size, modifiedAt, mode };
  return { type: "entry", entry: typeof target === "string" ? { ...entry, target } : entry };
}

function parseChange(message: Record<string, unknown>): JobAnswer | null {
  const { change, path, from } = message;
  if (typeof path !== "string") return null;
  switch (change) {
    case "created":
    case "modified":
    case "removed":
    case "overflow":
      return { type: "change", change: { type: change, path } };
    case "renamed":
      return typeof from === "string" ? { type: "change", change: { type: change, path, from } } : null;
    default:
      return null;
  }
}

function parseError(message: Record<string, unknown>): JobAnswer | null {
  const { reason, why } = message;
  const known = FILE_REASONS.find((each) => each === reason);
  return known === undefined || typeof why !== "string" ? null : { type: "error", reason: known, why };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
