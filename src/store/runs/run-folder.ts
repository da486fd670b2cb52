// Reads the folder of one recorded run. Its content is not trusted: only regular files are opened, no link is followed, and every
// file has a size limit.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { RunNotFoundError } from "../../errors.ts";
import type { RunId } from "../../protocol/ids.ts";
import type { RunStatus } from "../../protocol/runs.ts";
import { readExactly } from "../../util/bytes/read-exactly.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { isAlive } from "./run-files.ts";
import {
  DIGEST,
  isRunId,
  MAX_META_BYTES,
  recordedContext,
  runMeta,
  STARTING_MS,
  type RecordedContext,
  type RunMeta,
} from "./run-log-format.ts";

const MAX_BLOB_BYTES = 256 * 1024 * 1024;
const MAX_CONTEXTS_BYTES = 64 * 1024 * 1024;
/** The process of another machine cannot be examined: it is taken for gone when its log was not touched for this long. */
const QUIET_MS = 60 * 60_000;

export interface RunSummary extends Omit<RunMeta, "id" | "status" | "writer"> {
  readonly id: RunId;
  /** `broken`: its process is gone, and it has no end. */
  readonly status: RunStatus | "running" | "broken";
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

  /** Undefined where `meta.json` is missing or damaged. */
  async summary(): Promise<RunSummary | undefined> {
    const text = await this.#read("meta.json", MAX_META_BYTES).catch(() => Buffer.alloc(0));
    const meta = parseMeta(text.toString("utf8"), this.id);
    if (meta === undefined) return undefined;
    const { status, writer, ...facts } = meta;
    const isRunning = status === null && facts.ended === null && (await this.#isWriting(writer));
    return { ...facts, id: this.id, status: status ?? (isRunning ? "running" : "broken") };
  }

  /** Whether `meta.json` may still appear. */
  async isStarting(): Promise<boolean> {
    const stat = await lstat(this.path).catch(() => undefined);
    return stat !== undefined && Date.now() - stat.mtimeMs < STARTING_MS;
  }

  async contexts(): Promise<readonly RecordedContext[]> {
    const lines = await this.#read("contexts.jsonl", MAX_CONTEXTS_BYTES).catch(() => Buffer.alloc(0));
    return lines
      .toString("utf8")
      .split("\n")
      .flatMap((line) => recordedContext.safeParse(parseJSON(line)).data ?? []);
  }

  async openEvents(): Promise<FileHandle> {
    return this.#open("events.jsonl");
  }

  /** Throws where it is missing, or its content does not match its digest. */
  async blob(digest: string): Promise<Buffer> {
    if (!DIGEST.test(digest)) throw new RangeError("Cannot read a blob: its name is none");
    const data = await this.#read(join("blobs", digest), MAX_BLOB_BYTES);
    if (createHash("sha256").update(data).digest("hex") !== digest)
      throw new Error(`Cannot read blob ${digest} of run '${this.id}': it is damaged`);
    return data;
  }

  /** To read it in part: its content is not compared with its digest. */
  async openBlob(digest: string): Promise<FileHandle> {
    if (!DIGEST.test(digest)) throw new RangeError("Cannot read a blob: its name is none");
    return this.#open(join("blobs", digest));
  }

  async #isWriting(writer: RunMeta["writer"]): Promise<boolean> {
    const isKnownAlive = writer === null ? false : isAlive(writer);
    if (isKnownAlive !== undefined) return isKnownAlive;
    const stat = await lstat(join(this.path, "events.jsonl")).catch(() => undefined);
    return stat !== undefined && Date.now() - stat.mtimeMs < QUIET_MS;
  }

  async #read(name: string, maxBytes: number): Promise<Buffer> {
    const file = await this.#open(name);
    try {
      const { size } = await file.stat();
      if (size > maxBytes) throw new RangeError(`Cannot read '${name}' of run '${this.id}': it has ${size} bytes`);
      return await readExactly(file, 0, size);
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

function parseMeta(text: string, id: RunId): RunMeta | undefined {
  const { data } = runMeta.safeParse(parseJSON(text));
  return data?.id === id ? data : undefined;
}
