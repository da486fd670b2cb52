import { statfsSync } from "node:fs";

/** The space on the disk of a folder that ordinary users may take. 0: not known. */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
