// A part of what was printed.

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
  /** Absent: both, in the order in which they came. */
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
const NOTHING = Buffer.alloc(0);

/** Undefined: nothing was printed. Past the end there is nothing; throws a RangeError for what is no place at all. */
export function toSlice(source: Source | undefined, { offset = 0, length = DEFAULT_BYTES }: OutputRange): OutputSlice {
  checkCount("offset", offset, 0);
  if (length !== Infinity) checkCount("length", length, 0);
  const bytes = source?.read(offset, length) ?? NOTHING;
  const nextOffset = offset + bytes.length;
  return { bytes, offset, nextOffset, totalBytes: source?.total ?? 0, readableBytes: source?.readable ?? 0 };
}
