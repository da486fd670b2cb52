// The folder of one recorded run, on the side of whoever reads it: anybody may have put anything there.
//
// Only regular files are opened, no link is followed, and nothing is read that is larger than what it could be.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { RunNotFoundError } from "../../errors.ts";
import { isObject, isSpent } from "../../protocol/run-events.ts";
import type { RunId } from "../../protocol/ids.ts";
import type { RunStatus, Spent, StopReason } from "../../protocol/runs.ts";
import { isThere } from "./run-files.ts";
import {
  BEGINNING_MS,
  DIGEST,
  isRunId,
  MAX_META_BYTES,
  type LogWriter,
  type RecordedContext,
} from "./run-log-format.ts";

/** The most that one text of a run can be. */
const MAX_BLOB_BYTES = 256 * 1024 * 1024;
const MAX_CONTEXTS_BYTES = 64 * 1024 * 1024;
/** On another machine nobody can ask for a process: a log that was not touched for so long has no writer. */
const QUIET_MS = 60 * 60_000;

export interface RunSummary {
  readonly id: RunId;
  /** The question, or how it begins. */
  readonly query: string;
  readonly model: string;
  readonly subModel: string;
  /** Milliseconds since the epoch. */
  readonly started: number;
  /** Null: it goes on, or it broke. */
  readonly ended: number | null;
  /** `broken`: whoever ran it is gone, and it has no end. */
  readonly status: RunStatus | "running" | "broken";
  readonly stopReason: StopReason | null;
  /** In all; null while it goes on. */
  readonly usage: Spent | null;
  readonly wallMs: number | null;
  /** Of its log; null while it goes on. */
  readonly bytes: number | null;
  /** Events that could not be recorded. */
  readonly lostEvents: number;
}

export class RunFolder {
  readonly id: RunId;
  readonly path: string;

  private constructor(id: RunId, path: string) {
    this.id = id;
    this.path = path;
  }

  /** Throws RunNotFoundError where there is no such folder. */
  static async open(runs: string, id: string): Promise<RunFolder> {
    if (!isRunId(id)) throw new RunNotFoundError({ runId: id, why: "it is no id of a run" });
    const path = join(runs, id);
    for (const folder of [path, join(path, "blobs")]) {
      const stat = await lstat(folder).catch(() => undefined);
      if (stat?.isDirectory() !== true)
        throw new RunNotFoundError({ runId: id, why: `there is no folder '${folder}'` });
    }
    return new RunFolder(id as RunId, path);
  }

  /** Undefined where `meta.json` is not there yet, or damaged. */
  async summary(): Promise<RunSummary | undefined> {
    const text = await this.#read("meta.json", MAX_META_BYTES).catch(() => Buffer.alloc(0));
    const found = parseJson(text.toString("utf8"));
    const summary = toSummary(found, this.id);
    if (summary === undefined || summary.status !== "broken" || summary.ended !== null) return summary;
    return (await this.#isWritten(found)) ? { ...summary, status: "running" } : summary;
  }

  /** Whether `meta.json` may still come. */
  async isBeginning(): Promise<boolean> {
    const stat = await lstat(this.path).catch(() => undefined);
    return stat !== undefined && Date.now() - stat.mtimeMs < BEGINNING_MS;
  }

  async contexts(): Promise<readonly RecordedContext[]> {
    const lines = await this.#read("contexts.jsonl", MAX_CONTEXTS_BYTES).catch(() => Buffer.alloc(0));
    return lines.toString("utf8").split("\n").map(parseJson).filter(isContext);
  }

  async openEvents(): Promise<FileHandle> {
    return this.#open("events.jsonl");
  }

  /** Throws where it is not there, or is not what its name says. */
  async blob(digest: string): Promise<Buffer> {
    if (!DIGEST.test(digest)) throw new RangeError("Cannot read a blob: its name is none");
    const data = await this.#read(join("blobs", digest), MAX_BLOB_BYTES);
    if (createHash("sha256").update(data).digest("hex") !== digest)
      throw new Error(`Cannot read blob ${digest} of run '${this.id}': it is damaged`);
    return data;
  }

  async #isWritten(meta: unknown): Promise<boolean> {
    const writer = isObject(meta) ? toWriter(meta["writer"]) : undefined;
    const isAlive = writer === undefined ? false : isThere(writer);
    if (isAlive !== undefined) return isAlive;
    const stat = await lstat(join(this.path, "events.jsonl")).catch(() => undefined);
    return stat !== undefined && Date.now() - stat.mtimeMs < QUIET_MS;
  }

  async #read(name: string, maxBytes: number): Promise<Buffer> {
    const file = await this.#open(name);
    try {
      const { size } = await file.stat();
      if (size > maxBytes) throw new RangeError(`Cannot read '${name}' of run '${this.id}': it has ${size} bytes`);
      const data = Buffer.alloc(size);
      let filled = 0;
      while (filled < size) {
        const { bytesRead } = await file.read(data, filled, size - filled, filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return data.subarray(0, filled);
    } finally {
      await file.close();
    }
  }

  async #open(name: string): Promise<FileHandle> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(join(this.path, name), flags);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error(`Cannot read '${name}' of run '${this.id}': it is not a file`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toSummary(meta: unknown, id: RunId): RunSummary | undefined {
  if (!isObject(meta) || meta["id"] !== id) return undefined;
  const { query, model, subModel, started, ended, status, stopReason, usage, wallMs, bytes, lostEvents } = meta;
  if (typeof query !== "string" || typeof model !== "string" || typeof subModel !== "string") return undefined;
  if (typeof started !== "number" || typeof lostEvents !== "number") return undefined;
  const isKnown = status === "final" || status === "partial" || status === "failed" || status === "cancelled";
  return {
    id,
    query,
    model,
    subModel,
    started,
    ended: toNumber(ended),
    status: isKnown ? status : "broken",
    stopReason: typeof stopReason === "string" ? (stopReason as StopReason) : null,
    usage: isSpent(usage) ? (usage as Spent) : null,
    wallMs: toNumber(wallMs),
    bytes: toNumber(bytes),
    lostEvents,
  };
}

function toNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function toWriter(value: unknown): LogWriter | undefined {
  if (!isObject(value)) return undefined;
  const { pid, host, since } = value;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 1 || typeof host !== "string") return undefined;
  if (since !== null && typeof since !== "string") return undefined;
  return { pid, host, since };
}

function isContext(value: unknown): value is RecordedContext {
  if (!isObject(value) || typeof value["name"] !== "string") return false;
  const { chunks } = value;
  return chunks === null || (Array.isArray(chunks) && chunks.every((name) => DIGEST.test(String(name))));
}
