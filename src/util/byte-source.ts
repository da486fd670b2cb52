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
  const bytes = Buffer.from(text, "utf8");
  return {
    totalBytes: bytes.length,
    readableBytes: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** One after the other. What one of them dropped is counted, and takes no place between them. */
export function concatSources(...sources: readonly ByteSource[]): ByteSource {
  return {
    get totalBytes() {
      return sources.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
    },
    get readableBytes() {
      return sources.reduce((sum, { readableBytes }) => sum + readableBytes, 0);
    },
    read(offset, length) {
      const parts: Buffer[] = [];
      let start = 0;
      for (const source of sources) {
        const from = Math.max(0, offset - start);
        const to = Math.min(source.readableBytes, offset + length - start);
        if (from < to) parts.push(source.read(from, to - from));
        start += source.readableBytes;
      }
      return Buffer.concat(parts);
    },
  };
}
