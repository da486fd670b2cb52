import type { FileHandle } from "node:fs/promises";

/** The bytes at an offset; fewer at the end of the file. */
export async function readExactly(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const data = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(data, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return data.subarray(0, filled);
}
