// Answers of models by the hash of their requests: in memory, and in a folder if there is one.
//
// Errors of the disk only mean that a call is made again.

import { cachedAnswer, type CachedAnswer } from "../protocol/usage.ts";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

interface CacheLimits {
  readonly memoryAnswers: number;
  readonly memoryCharacters: number;
  readonly files: number;
  readonly fileBytes: number;
  /** The folder is pruned after the first write, and then after this many more. */
  readonly writesBetweenPrunes: number;
}

const HASH = /^[0-9a-f]{64}$/;
/** Longer answers are not cached. */
const MAX_CHARACTERS = 1024 * 1024;
const LIMITS: CacheLimits = {
  memoryAnswers: 2_000,
  memoryCharacters: 32 * 1024 * 1024,
  files: 20_000,
  fileBytes: 1024 ** 3,
  writesBetweenPrunes: 1_000,
};

export class CallCache {
  readonly #folder: string | undefined;
  readonly #limits: CacheLimits;
  readonly #memory = new Map<string, CachedAnswer>();
  #memoryCharacters = 0;
  #writes = 0;

  /** Without a folder, entries are lost with the process. */
  constructor(folder: string | undefined, limits: Partial<CacheLimits> = {}) {
    this.#folder = folder;
    this.#limits = { ...LIMITS, ...limits };
  }

  async get(hash: string): Promise<CachedAnswer | undefined> {
    const known = this.#memory.get(hash);
    if (known !== undefined || this.#folder === undefined || !HASH.test(hash)) return known;
    try {
      const parsed = cachedAnswer.safeParse(JSON.parse(await readFile(this.#path(hash), "utf8")));
      if (!parsed.success) return undefined;
      this.#remember(hash, parsed.data);
      return parsed.data;
    } catch {
      return undefined; // missing or unreadable
    }
  }

  put(hash: string, entry: CachedAnswer): void {
    if (sizeOf(entry) > MAX_CHARACTERS) return;
    this.#remember(hash, entry);
    if (this.#folder !== undefined && HASH.test(hash)) void this.#write(this.#folder, hash, entry).catch(() => {});
  }

  async #write(folder: string, hash: string, entry: CachedAnswer): Promise<void> {
    const path = this.#path(hash);
    const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    const isPruneDue = this.#writes % this.#limits.writesBetweenPrunes === 0;
    this.#writes += 1;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(entry), { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
    if (isPruneDue) await this.#prune(folder);
  }

  #remember(hash: string, entry: CachedAnswer): void {
    this.#forget(hash);
    this.#memory.set(hash, entry);
    this.#memoryCharacters += sizeOf(entry);
    const { memoryAnswers, memoryCharacters } = this.#limits;
    for (const oldest of this.#memory.keys()) {
      if (this.#memory.size <= memoryAnswers && this.#memoryCharacters <= memoryCharacters) break;
      this.#forget(oldest);
    }
  }

  #forget(hash: string): void {
    const known = this.#memory.get(hash);
    if (known === undefined) return;
    this.#memory.delete(hash);
    this.#memoryCharacters -= sizeOf(known);
  }

  #path(hash: string): string {
    return join(this.#folder ?? "", `${hash}.json`);
  }

  /** Removes the oldest files until the rest is within the limits. */
  async #prune(folder: string): Promise<void> {
    const found: { readonly path: string; readonly time: number; readonly bytes: number }[] = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const stats = await stat(path).catch(() => undefined); // removed meanwhile
      if (stats?.isFile() === true) found.push({ path, time: stats.mtimeMs, bytes: stats.size });
    }
    let [files, bytes] = [found.length, found.reduce((sum, file) => sum + file.bytes, 0)];
    for (const file of found.toSorted((a, b) => a.time - b.time)) {
      if (files <= this.#limits.files && bytes <= this.#limits.fileBytes) break;
      await rm(file.path, { force: true });
      files -= 1;
      bytes -= file.bytes;
    }
  }
}

function sizeOf({ text, reasoning }: CachedAnswer): number {
  return text.length + reasoning.length;
}
