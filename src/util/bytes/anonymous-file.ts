// A temporary file that nobody else can open and that cannot be left behind, whatever dies: it has no name.

import { randomBytes } from "node:crypto";
import { constants, openSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a file in the folder that is opened. O_TMPFILE of Linux, which Node does not name; not every file system knows it. */
export const UNNAMED = 0o20000000 | constants.O_DIRECTORY | constants.O_RDWR;
const MODE = 0o600;

/** For reading and writing, empty. Throws what the system says. */
export function openAnonymousFile(): number {
  try {
    return openSync(tmpdir(), UNNAMED, MODE);
  } catch {
    return openAndUnlink(); // what else was wrong is said again
  }
}

/** Its name is there for a moment, with nothing in it. */
function openAndUnlink(): number {
  const path = join(tmpdir(), `rlm-${randomBytes(12).toString("hex")}`);
  const fd = openSync(path, "wx+", MODE);
  unlinkSync(path);
  return fd;
}
