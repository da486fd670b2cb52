// The file of the standard library: one Python source file that users may edit.

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeSync, type Stats } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder } from "../util/data-folder.ts";
import { AtomicFile } from "./atomic-file.ts";

const MAX_BYTES = 1024 * 1024;
const LOCK_WAIT_MS = 10;
const LOCK_TIMEOUT_MS = 10_000;

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

  /** Undefined: there is none. Throws for a file that cannot be used. Reads the disk only when the file has changed. */
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

  /** Makes the next read go to the disk. */
  forget(): void {
    this.#version = undefined;
  }

  /**
   * Changes the file under a lock that holds across processes. If `change` throws, or the current file cannot be used, nothing is
   * replaced.
   */
  async update(change: (source: string) => Promise<string>): Promise<void> {
    await using _ = await lock(this.path);
    this.forget();
    const source = Buffer.from(await change(this.read() ?? ""));
    if (source.length > MAX_BYTES) throw new RangeError(`it would have more than ${MAX_BYTES} bytes`);
    makeFolder(dirname(this.path)); // 0700: the names of its files tell the user's projects
    const file = new AtomicFile(this.path);
    try {
      let written = 0;
      while (written < source.length) written += writeSync(file.fd, source, written);
      await file.commit();
    } finally {
      file.discard();
      this.forget();
    }
  }

  /** Undefined also where the folder may not be read. */
  #stat(): Stats | undefined {
    try {
      return statSync(this.path, { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }
}

/** An abstract socket as a lock: the kernel gives it to one process at a time, and frees it when that process dies. */
async function lock(path: string): Promise<AsyncDisposable> {
  const name = createHash("sha256").update(`${process.getuid?.()} ${path}`).digest("hex").slice(0, 32);
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
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
