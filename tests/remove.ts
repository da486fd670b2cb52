// Removes a folder that a killed program's children may still write to for a moment.

import { rmSync } from "node:fs";

const PATIENCE_MS = 20_000;

/** Lists the folder again each time. `maxRetries` of Node 20 lists it once and misses later files. */
export function remove(folder: string): void {
  for (const until = Date.now() + PATIENCE_MS; ;) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY" || Date.now() > until) throw error;
    }
  }
}
