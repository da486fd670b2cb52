// Scripts of version managers that stand in for Python and slow down every start.

import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of a version manager's script that stands in for Python, if there is one. */
export function shimPath(): string | undefined {
  const wanted = process.env["RLM_PYTHON"] || "python3";
  const folders = wanted.includes("/") ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  for (const folder of folders) {
    try {
      const path = join(folder, wanted);
      const fd = openSync(realpathSync(path), "r");
      const start = Buffer.alloc(2);
      readSync(fd, start, 0, 2, 0);
      closeSync(fd);
      return start.toString("latin1") === "#!" ? path : undefined;
    } catch {
      continue; // not there, or a folder
    }
  }
  return undefined;
}
