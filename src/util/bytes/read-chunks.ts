// A file, a piece at a time, in one buffer that is used again and again.

import type { FileHandle } from "node:fs/promises";

const PIECE_BYTES = 1024 * 1024;

/** From `start` to `end`, or to where the file ends. A piece is valid until the next one is asked for. */
export async function* readChunks(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer, void, void> {
  const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(PIECE_BYTES, end - start)));
  let at = start;
  while (at < end) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
