// A temporary file without a name: no other process can open it, and it disappears with the last descriptor.

import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux's O_TMPFILE, for which Node has no constant: creates a file in the opened folder. Some file systems lack it. */
export const UNNAMED = 0o20000000 | constants.O_DIRECTORY | constants.O_RDWR;
const MODE = 0o600;

/** An empty file for reading and writing. Throws the system's error. */
export function openAnonymousFile(): number {
  try {
    return openSync(tmpdir(), UNNAMED, MODE);
  } catch {
    return openAndUnlink(); // fails again if something else is wrong
  }
}

/** The same as a handle. */
export async function openAnonymousHandle(): Promise<FileHandle> {
  const fd = openAnonymousFile();
  try {
    return await open(`/proc/self/fd/${fd}`, "r+");
  } finally {
    closeSync(fd);
  }
}

/** The file has a name for a moment, while it is empty. */
function openAndUnlink(): number {
  const path = join(tmpdir(), `rlm-${randomBytes(12).toString("hex")}`);
  const fd = openSync(path, "wx+", MODE);
  unlinkSync(path);
  return fd;
}
