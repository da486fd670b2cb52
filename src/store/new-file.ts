// A file that comes to its path whole or not at all, and leaves nothing behind if this process is killed on the way.
//
// It is written without a name, and given one when it is done. Where the file system cannot do that, it has a temporary
// name beside its path.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, copyFileSync, existsSync, fsync, openSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "../util/data-folder.ts";
import { UNNAMED } from "../util/bytes/anonymous-file.ts";
import { randomBytes } from "node:crypto";

const MODE = 0o600;

export class NewFile {
  readonly path: string;
  readonly fd: number;
  /** Where it is until it is done; undefined: nowhere. */
  readonly #temporary: string | undefined;
  #isOpen = true;

  /** Folders above it are made. Throws what the file system says. */
  constructor(path: string) {
    this.path = path;
    makeFolder(dirname(path), 0o777);
    const unnamed = openUnnamed(dirname(path));
    this.#temporary = unnamed === undefined ? temporaryName(path) : undefined;
    this.fd = unnamed ?? openSync(this.#temporary ?? path, "wx+", MODE);
  }

  /** Puts it in its place, over what is there. On failure nothing has changed, and `discard` is to be called. */
  async keep(): Promise<void> {
    await promisify(fsync)(this.fd);
    if (this.#temporary !== undefined) renameSync(this.#temporary, this.path);
    else await this.#name();
    this.#close();
    await syncFolder(dirname(this.path));
  }

  discard(): void {
    if (!this.#isOpen) return;
    this.#close();
    if (this.#temporary !== undefined) rmSync(this.#temporary, { force: true });
  }

  async #name(): Promise<void> {
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

function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
}

/** Node has no call for it; `ln` has. False where it does not work, whatever the reason. */
async function link(fd: number, path: string): Promise<boolean> {
  try {
    const child = spawn("ln", ["-L", "-T", "--", "/proc/self/fd/3", path], {
      stdio: ["ignore", "ignore", "ignore", fd],
    });
    const [code] = (await once(child, "close")) as [number | null];
    return code === 0;
  } catch {
    return false;
  }
}

/** So that the name survives a crash of the machine, too, where the file system can promise that. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    await promisify(fsync)(fd).finally(() => closeSync(fd));
  } catch {
    // it cannot
  }
}
