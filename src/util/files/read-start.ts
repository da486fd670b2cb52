// The beginning of a file, read at once.

import { closeSync, openSync, readSync } from "node:fs";

/** At most so many bytes: a project may link to a device that never ends. Throws the system's error. */
export function readStart(path: string, maxBytes: number): Buffer {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(maxBytes);
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read) {
      read = readSync(fd, bytes, size, bytes.length - size, null);
    }
    return bytes.subarray(0, size);
  } finally {
    closeSync(fd);
  }
}
