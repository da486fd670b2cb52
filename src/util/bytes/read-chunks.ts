// Reads a file in chunks, with one reused buffer.

import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 1024 * 1024;

/** From `start` to `end`, or to the end of the file. A chunk is valid until the next one is requested. */
export async function* readChunks(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer, void, void> {
  const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(CHUNK_BYTES, end - start)));
  let at = start;
  while (at < end) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
