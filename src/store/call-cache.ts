// Answers of models, under the hash of their requests: in memory, and in a folder where there is one.
//
// A cache is a convenience: whatever goes wrong with the disk means that an answer is asked for again, and nothing else.

import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const answer = z.object({
  text: z.string(),
  reasoning: z.string(),
  finishReason: z.enum(["stop", "length", "refusal", "other"]),
  isCut: z.boolean(),
});

export type StoredAnswer = z.output<typeof answer>;

interface CacheBounds {
  readonly memoryAnswers: number;
  readonly memoryCharacters: number;
  readonly files: number;
  readonly fileBytes: number;
  /** The folder is looked through after the first, and then after so many more. */
  readonly writesBetweenPrunes: number;
}

const HASH = /^[0-9a-f]{64}$/;
/** What is longer is not kept: a cache of it would be a copy of the material. */
const MAX_CHARACTERS = 1024 * 1024;
const BOUNDS: CacheBounds = {
  memoryAnswers: 2_000,
  memoryCharacters: 32 * 1024 * 1024,
  files: 20_000,
  fileBytes: 1024 ** 3,
  writesBetweenPrunes: 1_000,
};

export class CallCache {
  readonly #folder: string | undefined;
  readonly #bounds: CacheBounds;
  readonly #memory = new Map<string, StoredAnswer>();
  #memoryCharacters = 0;
  #writes = 0;

  /** Without a folder it forgets everything with the process. */
  constructor(folder: string | undefined, bounds: Partial<CacheBounds> = {}) {
    this.#folder = folder;
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  async get(hash: string): Promise<StoredAnswer | undefined> {
    const known = this.#memory.get(hash);
    if (known !== undefined || this.#folder === undefined || !HASH.test(hash)) return known;
    try {
      const parsed = answer.safeParse(JSON.parse(await readFile(this.#path(hash), "utf8")));
      if (!parsed.success) return undefined;
      this.#remember(hash, parsed.data);
      return parsed.data;
    } catch {
      return undefined; // it is not there, or not readable
    }
  }

  put(hash: string, given: StoredAnswer): void {
    if (sizeOf(given) > MAX_CHARACTERS) return;
    this.#remember(hash, given);
    if (this.#folder !== undefined && HASH.test(hash)) void this.#write(this.#folder, hash, given).catch(() => {});
  }

  async #write(folder: string, hash: string, given: StoredAnswer): Promise<void> {
    const path = this.#path(hash);
    const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    const isPruneDue = this.#writes % this.#bounds.writesBetweenPrunes === 0;
    this.#writes += 1;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(given), { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
    if (isPruneDue) await this.#prune(folder);
  }

  #remember(hash: string, given: StoredAnswer): void {
    this.#forget(hash);
    this.#memory.set(hash, given);
    this.#memoryCharacters += sizeOf(given);
    const { memoryAnswers, memoryCharacters } = this.#bounds;
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

  /** The oldest go when there are too many, or they are too large. */
  async #prune(folder: string): Promise<void> {
    const found: { readonly path: string; readonly time: number; readonly bytes: number }[] = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const stats = await stat(path).catch(() => undefined); // somebody else removed it
      if (stats?.isFile() === true) found.push({ path, time: stats.mtimeMs, bytes: stats.size });
    }
    let [files, bytes] = [found.length, found.reduce((sum, file) => sum + file.bytes, 0)];
    for (const file of found.toSorted((a, b) => a.time - b.time)) {
      if (files <= this.#bounds.files && bytes <= this.#bounds.fileBytes) break;
      await rm(file.path, { force: true });
      files -= 1;
      bytes -= file.bytes;
    }
  }
}

function sizeOf({ text, reasoning }: StoredAnswer): number {
  return text.length + reasoning.length;
}
