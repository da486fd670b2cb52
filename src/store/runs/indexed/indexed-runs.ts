// Recorded runs that were looked at, with their indexes, within a limit of memory.

import { RunFolder } from "../run-folder.ts";
import { runsFolder } from "../run-log-format.ts";
import type { RunsOptions } from "../run-log-reader.ts";
import { IndexedRun } from "./indexed-run.ts";

/** Of all indexes. The one that was used last is kept whatever its size. */
const MAX_BYTES = 96 * 1024 * 1024;

export class IndexedRuns {
  readonly #maxBytes: number;
  /** By folder. The one that was used last is the last one. */
  readonly #runs = new Map<string, IndexedRun>();

  constructor({ maxBytes = MAX_BYTES }: { readonly maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  /** Up to date. Throws RunNotFoundError. */
  async open(id: string, { folder = runsFolder() }: RunsOptions = {}): Promise<IndexedRun> {
    const opened = await RunFolder.open(folder, id);
    const run = this.#runs.get(opened.path) ?? new IndexedRun(opened);
    this.#runs.delete(opened.path);
    this.#runs.set(opened.path, run);
    await run.update();
    this.#evict();
    return run;
  }

  /** How many are kept. */
  get size(): number {
    return this.#runs.size;
  }

  #evict(): void {
    let bytes = 0;
    for (const { byteSize } of this.#runs.values()) bytes += byteSize;
    for (const [path, { byteSize }] of this.#runs) {
      if (bytes <= this.#maxBytes || this.#runs.size <= 1) return;
      this.#runs.delete(path);
      bytes -= byteSize;
    }
  }
}
