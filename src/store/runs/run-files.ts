// Writes the files of one run: mode 0600, in a new folder of mode 0700.

import { randomBytes } from "node:crypto";
import { appendFile, mkdir, open, rename, rm, stat, writeFile, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../../util/data-folder.ts";
import { startOfProcess } from "../../util/start-of-process.ts";
import type { LogWriter } from "./run-log-format.ts";

const MODE = 0o600;
/** Blobs that are known to exist; for others the disk is checked. */
const MAX_KNOWN = 100_000;

export class RunFiles {
  readonly folder: string;
  readonly #events: FileHandle;
  readonly #known = new Set<string>();
  #bytes = 0;

  private constructor(folder: string, events: FileHandle) {
    this.folder = folder;
    this.#events = events;
  }

  static async open(runs: string, id: string): Promise<RunFiles> {
    makeFolder(runs);
    const folder = join(runs, id);
    await mkdir(folder, { mode: 0o700 });
    await mkdir(join(folder, "blobs"), { mode: 0o700 });
    return new RunFiles(folder, await open(join(folder, "events.jsonl"), "ax", MODE));
  }

  /** Written in total, without `meta.json`. */
  get bytes(): number {
    return this.#bytes;
  }

  async append(lines: string): Promise<void> {
    const data = Buffer.from(lines);
    let written = 0;
    while (written < data.length) written += (await this.#events.write(data, written)).bytesWritten;
    this.#bytes += data.length;
  }

  /** Writes a blob once, however often it is called. */
  async keepBlob(digest: string, data: Buffer): Promise<void> {
    if (this.#known.has(digest)) return;
    const path = join(this.folder, "blobs", digest);
    try {
      await writeFile(path, data, { flag: "wx", mode: MODE });
      this.#bytes += data.length;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if ((await stat(path)).size !== data.length) await this.#replace(path, data);
    }
    if (this.#known.size < MAX_KNOWN) this.#known.add(digest);
  }

  /** Appends a line to another file. */
  async appendJson(name: string, value: unknown): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    await appendFile(join(this.folder, name), line, { mode: MODE });
    this.#bytes += line.length;
  }

  async replaceJson(name: string, value: unknown): Promise<void> {
    await this.#replace(join(this.folder, name), Buffer.from(`${JSON.stringify(value)}\n`));
  }

  async sync(): Promise<void> {
    await this.#events.sync();
  }

  async close(): Promise<void> {
    await this.#events.close();
  }

  async #replace(path: string, data: Buffer): Promise<void> {
    const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    try {
      await writeFile(temporary, data, { flag: "wx", mode: MODE });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
  }
}

/** This process. */
export function thisWriter(): LogWriter {
  return { pid: process.pid, host: hostname(), since: startOfProcess(process.pid) };
}

/** Whether that process is alive; undefined on another machine, where that is not known. */
export function isAlive({ pid, host, since }: LogWriter): boolean | undefined {
  if (host !== hostname()) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return since === null || since === startOfProcess(pid);
}
