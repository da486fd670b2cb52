// Random access to printed output, wherever it is stored.

export interface ByteSource {
  /** The number of bytes printed. */
  readonly totalBytes: number;
  /** How many bytes from the start can be read; the rest was dropped. */
  readonly readableBytes: number;
  /** Up to `length` bytes from an offset; fewer only at the end of the readable bytes. */
  read(offset: number, length: number): Buffer;
}

export function textSource(text: string): ByteSource {
  const bytes = Buffer.from(text);
  const read = (offset: number, length: number): Buffer => bytes.subarray(offset, offset + length);
  return { totalBytes: bytes.length, readableBytes: bytes.length, read };
}
