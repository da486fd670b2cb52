// What a program that was killed had started may still write for a moment, as Python does that fills its cache.

import { rmSync } from "node:fs";

const PATIENCE_MS = 20_000;

/** Looks again what is there each time: `maxRetries` of Node 20 lists a folder once, and never sees what came after. */
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
