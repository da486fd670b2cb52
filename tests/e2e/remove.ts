// What a program that was killed had started may still write for a moment, as Python does that fills its cache.

import { rmSync } from "node:fs";

export function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 100 });
}
