// A temporary file that nobody else can open and that cannot be left behind, whatever dies: it has no name.

import { randomBytes } from "node:crypto";
import { constants, openSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** O_TMPFILE of Linux, which Node does not name. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
const MODE = 0o600;

/** For reading and writing, empty. Throws what the system says. */
export function openNamelessFile(): number {
  try {
    return openSync(tmpdir(), O_TMPFILE | constants.O_RDWR, MODE);
  } catch {
    return openAndUnlink(); // not every file system can, and what else was wrong is said again
  }
}

/** Its name is there for a moment, with nothing in it. */
function openAndUnlink(): number {
  const path = join(tmpdir(), `rlm-${randomBytes(12).toString("hex")}`);
  const fd = openSync(path, "wx+", MODE);
  unlinkSync(path);
  return fd;
}
