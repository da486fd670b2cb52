// A range of printed output.

import type { OutputStream } from "../protocol/execution.ts";
import { checkCount } from "../util/check-number.ts";

export interface OutputSlice {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly nextOffset: number;
  /** How much was printed so far. */
  readonly totalBytes: number;
  /** How much of it, from the first byte, can be read. */
  readonly readableBytes: number;
}

export interface OutputRange {
  /** Absent: both, in print order. */
  readonly stream?: OutputStream;
  /** In bytes. Default: 0. */
  readonly offset?: number;
  /** Default: 1 MiB. */
  readonly length?: number;
}

interface Source {
  readonly total: number;
  readonly readable: number;
  read(offset: number, length: number): Buffer;
}

const DEFAULT_BYTES = 1024 * 1024;

/** No source: nothing was printed. Empty past the end. Throws a RangeError for an invalid offset or length. */
export function toSlice(source: Source | undefined, { offset = 0, length = DEFAULT_BYTES }: OutputRange): OutputSlice {
  checkCount("offset", offset, 0);
  if (length !== Infinity) checkCount("length", length, 0);
  const bytes = source?.read(offset, length) ?? Buffer.alloc(0);
  const nextOffset = offset + bytes.length;
  return { bytes, offset, nextOffset, totalBytes: source?.total ?? 0, readableBytes: source?.readable ?? 0 };
}
