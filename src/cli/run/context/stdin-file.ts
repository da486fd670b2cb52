// Standard input saved to a temporary file for the length of a run, because it may be larger than memory.

import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

export class StdinFile implements AsyncDisposable {
  readonly #input: NodeJS.ReadableStream;
  readonly #disposed = new AbortController();
  #folder: string | undefined;
  #saving: Promise<string> | undefined;

  constructor(input: NodeJS.ReadableStream = process.stdin) {
    this.#input = input;
  }

  /** Reads all of it and resolves with the path. Call it once. */
  save(): Promise<string> {
    this.#saving = this.#save();
    return this.#saving;
  }

  /** Removes the file, even while it is being written. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new Error("it is not needed any more"));
    await this.#saving?.catch(() => {}); // it may be about to create its folder
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #save(): Promise<string> {
    this.#folder = await mkdtemp(join(tmpdir(), "rlm-run-"));
    const path = join(this.#folder, "stdin");
    await pipeline(this.#input, createWriteStream(path, { mode: 0o600 }), { signal: this.#disposed.signal });
    return path;
  }
}
