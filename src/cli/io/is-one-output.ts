// Whether standard output and standard error are one terminal or one pipe.
//
// Each has its own queue in this process, so what goes to one place keeps its order only if it takes one of them. Files need
// no such care: they are written at once.

import { fstatSync } from "node:fs";

export function isOneOutput(): boolean {
  try {
    const [out, err] = [fstatSync(1, { bigint: true }), fstatSync(2, { bigint: true })];
    return out.dev === err.dev && out.ino === err.ino && !out.isFile();
  } catch {
    return false; // one is closed
  }
}
