// Bytes of something printed, wherever they are kept.

export interface ByteSource {
  /** How many were printed. */
  readonly totalBytes: number;
  /** How many of them, from the first, can be read; the rest was dropped. */
  readonly readableBytes: number;
  /** From an offset, at most this many; fewer only where what can be read ends. */
  read(offset: number, length: number): Buffer;
}

export function textSource(text: string): ByteSource {
  const bytes = Buffer.from(text);
  const read = (offset: number, length: number): Buffer => bytes.subarray(offset, offset + length);
  return { totalBytes: bytes.length, readableBytes: bytes.length, read };
}
