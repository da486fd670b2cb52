// A file that appears at its path complete or not at all.
//
// It is written as an unnamed file (O_TMPFILE) and linked to its path at the end, so that nothing is left if this process is killed while it
// writes. Where the file system cannot do that, and for a moment while another file is replaced, it has a temporary name beside its path.
// What a killed process leaves there is removed by the next one that writes into the folder.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, copyFileSync, existsSync, fsync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "../util/data-folder.ts";
import { UNNAMED } from "../util/bytes/anonymous-file.ts";
import { removeAbandoned, temporaryName } from "./temporary-files.ts";

const MODE = 0o600;

export class AtomicFile {
  readonly path: string;
  readonly fd: number;
  /** Its temporary name; undefined: it has none. */
  readonly #temporary: string | undefined;
  #isOpen = true;

  /** Creates missing folders. Throws the file system's errors. */
  constructor(path: string) {
    this.path = path;
    makeFolder(dirname(path), 0o777);
    const unnamed = openUnnamed(dirname(path));
    this.#temporary = unnamed === undefined ? temporaryName(path) : undefined;
    this.fd = unnamed ?? openSync(this.#temporary ?? path, "wx+", MODE);
  }

  /** Replaces what is at the path. On failure nothing has changed, and `discard` must be called. */
  async commit(): Promise<void> {
    await promisify(fsync)(this.fd);
    if (this.#temporary !== undefined) renameSync(this.#temporary, this.path);
    else await this.#link();
    this.#close();
    await syncFolder(dirname(this.path));
    await removeAbandoned(dirname(this.path));
  }

  discard(): void {
    if (!this.#isOpen) return;
    this.#close();
    if (this.#temporary !== undefined) rmSync(this.#temporary, { force: true });
  }

  async #link(): Promise<void> {
    if (!existsSync(this.path) && (await link(this.fd, this.path))) return;
    const temporary = temporaryName(this.path);
    try {
      if (!(await link(this.fd, temporary)))
        copyFileSync(`/proc/self/fd/${this.fd}`, temporary, constants.COPYFILE_EXCL);
      renameSync(temporary, this.path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  #close(): void {
    this.#isOpen = false;
    closeSync(this.fd);
  }
}

function openUnnamed(folder: string): number | undefined {
  try {
    return openSync(folder, UNNAMED, MODE);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["EOPNOTSUPP", "ENOTSUP", "EISDIR", "EINVAL", "ENOENT"].includes(code)) return undefined;
    throw error;
  }
}

/** Node cannot link an open descriptor, `ln` can. False: it failed, for whatever reason. */
async function link(fd: number, path: string): Promise<boolean> {
  try {
    const child = spawn("ln", ["-L", "-T", "--", "/proc/self/fd/3", path], {
      stdio: ["ignore", "ignore", "ignore", fd],
      env: { PATH: "/usr/bin:/bin" }, // the user's may name folders that others fill
    });
    const [code] = (await once(child, "close")) as [number | null];
    return code === 0;
  } catch {
    return false;
  }
}

/** Makes the name survive a crash of the machine, where the file system supports that. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    await promisify(fsync)(fd).finally(() => closeSync(fd));
  } catch {
    // not supported
  }
}
