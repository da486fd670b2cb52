// Answers of models, under the hash of their requests: in memory, and in a folder where there is one.
//
// A cache is a convenience: whatever goes wrong with the disk means that an answer is asked for again, and nothing else.

import { readdirSync, statSync, unlinkSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const answer = z.object({
  text: z.string(),
  reasoning: z.string(),
  finishReason: z.enum(["stop", "length", "refusal", "other"]),
  isCut: z.boolean(),
});

export type StoredAnswer = z.output<typeof answer>;

const HASH = /^[0-9a-f]{64}$/;
const MAX_MEMORY = 2_000;
const MAX_FILES = 20_000;

export class CallCache {
  readonly #folder: string | undefined;
  readonly #memory = new Map<string, StoredAnswer>();
  #isPruned = false;

  /** Without a folder it forgets everything with the process. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
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
    this.#remember(hash, given);
    if (this.#folder !== undefined && HASH.test(hash)) void this.#write(hash, given).catch(() => {});
  }

  async #write(hash: string, given: StoredAnswer): Promise<void> {
    const path = this.#path(hash);
    const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
    this.#prune();
    await writeFile(temporary, JSON.stringify(given), { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
  }

  #remember(hash: string, given: StoredAnswer): void {
    this.#memory.delete(hash);
    this.#memory.set(hash, given);
    const [oldest] = this.#memory.keys();
    if (this.#memory.size > MAX_MEMORY && oldest !== undefined) this.#memory.delete(oldest);
  }

  #path(hash: string): string {
    return join(this.#folder ?? "", `${hash}.json`);
  }

  /** Once a process: the oldest go when there are too many. */
  #prune(): void {
    if (this.#isPruned || this.#folder === undefined) return;
    this.#isPruned = true;
    const names = readdirSync(this.#folder);
    if (names.length <= MAX_FILES) return;
    const folder = this.#folder;
    const aged = names.map((name) => ({ path: join(folder, name), time: timeOf(join(folder, name)) }));
    for (const { path } of aged.toSorted((a, b) => a.time - b.time).slice(0, names.length - MAX_FILES))
      removeQuietly(path);
  }
}

function timeOf(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // somebody else removed it
  }
}
