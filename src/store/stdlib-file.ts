// The file of the standard library: one Python source that people may edit by hand.

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeSync, type Stats } from "node:fs";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { NewFile } from "./new-file.ts";

const MAX_BYTES = 1024 * 1024;
const LOCK_WAIT_MS = 10;
const LOCK_PATIENCE_MS = 10_000;

interface Version {
  readonly changedAt: number;
  readonly size: number;
  readonly node: number;
  readonly source: string;
}

export class StdlibFile {
  readonly path: string;
  #version: Version | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Undefined where there is none. Throws where what is there cannot be used. Read from disk only when it has changed. */
  read(): string | undefined {
    const stat = this.#stat();
    if (stat === undefined) return undefined;
    const { mtimeMs: changedAt, size, ino: node } = stat;
    if (!stat.isFile()) throw new Error(`'${this.path}' is not a file`);
    if (size > MAX_BYTES) throw new Error(`'${this.path}' has ${size} bytes, and may have ${MAX_BYTES}`);
    const known = this.#version;
    if (known?.changedAt === changedAt && known.size === size && known.node === node) return known.source;
    const source = readFileSync(this.path);
    if (!isUtf8(source)) throw new Error(`'${this.path}' is not UTF-8`);
    this.#version = { changedAt, size, node, source: source.toString("utf8") };
    return this.#version.source;
  }

  /** Forgets what it knows: the next read is from disk. */
  forget(): void {
    this.#version = undefined;
  }

  /**
   * Changes it while nobody else does, in this process or another. What `change` throws leaves it as it was, and so does a
   * file that cannot be used: nothing that people wrote is replaced unread.
   */
  async update(change: (source: string) => Promise<string>): Promise<void> {
    await using _ = await lock(this.path);
    this.forget();
    const source = Buffer.from(await change(this.read() ?? ""));
    if (source.length > MAX_BYTES) throw new RangeError(`it would have more than ${MAX_BYTES} bytes`);
    const file = new NewFile(this.path);
    try {
      let written = 0;
      while (written < source.length) written += writeSync(file.fd, source, written);
      await file.keep();
    } finally {
      file.discard();
      this.forget();
    }
  }

  /** A folder that may not be looked into has none. */
  #stat(): Stats | undefined {
    try {
      return statSync(this.path, { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }
}

/** A socket without a place in the file system: the kernel lets one process have it, and takes it back when that dies. */
async function lock(path: string): Promise<AsyncDisposable> {
  const name = createHash("sha256").update(`${userInfo().uid} ${path}`).digest("hex").slice(0, 32);
  const deadline = Date.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const server = createServer((socket) => socket.destroy());
    try {
      server.listen(`\0rlm-stdlib-${name}`);
      await once(server, "listening");
      return {
        async [Symbol.asyncDispose]() {
          server.close();
          await once(server, "close");
        },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || Date.now() > deadline) throw error;
      await sleep(LOCK_WAIT_MS);
    }
  }
}
