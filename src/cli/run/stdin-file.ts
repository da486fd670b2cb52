// Standard input in a file, for as long as a run needs it: it may be larger than memory.

import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

export class KeptInput implements AsyncDisposable {
  readonly #input: NodeJS.ReadableStream;
  readonly #over = new AbortController();
  #folder: string | undefined;
  #keeping: Promise<string> | undefined;

  constructor(input: NodeJS.ReadableStream = process.stdin) {
    this.#input = input;
  }

  /** Reads all of it. To be called once. */
  keep(): Promise<string> {
    this.#keeping = this.#keep();
    return this.#keeping;
  }

  /** Nothing of it stays, even if it is still being read. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error("it is not needed any more"));
    await this.#keeping?.catch(() => {}); // it may be about to make its folder
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #keep(): Promise<string> {
    this.#folder = await mkdtemp(join(tmpdir(), "rlm-run-"));
    const path = join(this.#folder, "stdin");
    await pipeline(this.#input, createWriteStream(path, { mode: 0o600 }), { signal: this.#over.signal });
    return path;
  }
}
