// The image for the sessions of one runtime where no copy can be sealed: one without a name, so what they do to it ends with the runtime.

import { chmodSync, constants, copyFileSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A descriptor for reading, of a copy that no path leads to. The caller closes it. */
export function openPrivateCopy(path: string): number {
  const folder = mkdtempSync(join(tmpdir(), "rlm-image-"));
  try {
    const copy = join(folder, "image");
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    chmodSync(copy, 0o400);
    return openSync(copy, "r");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
