// Bytes as callers get them: no Buffer, whose methods differ from those of a Uint8Array.

import type { OutputSlice } from "../api/execution.ts";

/** The same memory. */
export function toPlainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function toPlainSlice(slice: OutputSlice): OutputSlice {
  return { ...slice, bytes: toPlainBytes(slice.bytes) };
}
