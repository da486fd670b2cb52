// Whether a context fits into the memory of a session, found before anything is loaded, and what to set where it does not.

import { formatSize } from "../../util/text/format.ts";
import type { FileRange } from "../../session/state/set-variable.ts";
import { isFiles, type ContextItem } from "./context-item.ts";
import { measureText, type TextSize } from "./text-size.ts";

const MIB = 1024 ** 2;
/** A character takes at most this. */
const MAX_WIDTH = 4;
/** Python itself, at least. */
const OWN_BYTES = 16 * MIB;
/** Smaller files are not read for this. */
const MEASURED_BYTES = MIB;

interface Need {
  readonly name: string;
  readonly size: TextSize;
}

/** Throws an Error for what surely does not fit. What is not clear shows when it is loaded. */
export async function checkMemory(
  items: readonly ContextItem[],
  limitBytes: number,
  signal: AbortSignal,
): Promise<void> {
  if (MAX_WIDTH * sizeOf(items) + OWN_BYTES <= limitBytes) return;
  const needs: Need[] = [];
  for (const item of items) for (const part of toParts(item)) needs.push(await measure(part, signal));
  const held = needs.reduce((sum, { size }) => sum + size.bytes, OWN_BYTES);
  const bytes = held + Math.max(0, ...needs.map(({ size }) => size.peakBytes - size.bytes));
  if (bytes <= limitBytes) return;
  const [largest] = needs.toSorted((a, b) => b.size.peakBytes - a.size.peakBytes);
  const width = largest?.size.width ?? 1;
  const why = width > 1 ? `, at ${width} bytes for each character of '${largest?.name}',` : "";
  throw new Error(
    `it takes ${formatSize(bytes)} of memory${why} and a session has ${formatSize(limitBytes)}. ${memoryAdvice(bytes)}`,
  );
}

/** In bytes, as it comes. */
export function sizeOf(items: readonly ContextItem[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** `bytes`: what the context takes. Code that works on it needs more. */
export function memoryAdvice(bytes: number): string {
  const wanted = 1.5 * bytes;
  const size = wanted > 768 * MIB ? `${Math.ceil(wanted / MIB / 1024)}g` : `${64 * Math.ceil(wanted / MIB / 64)}m`;
  return `Set more: memory = "${size}" in [limits] of rlm.toml, --memory ${size}, or limits.memoryBytes in a program`;
}

/** A text in a file, or something whose size is known. */
interface Part {
  readonly name: string;
  readonly bytes: number;
  readonly path?: string;
  readonly range?: FileRange | undefined;
}

function toParts({ name, kind, bytes, value }: ContextItem): readonly Part[] {
  if (isFiles(value)) return value.map((file) => ({ ...file, bytes: file.range?.length ?? file.size }));
  if ("file" in value && kind === "text") return [{ name, bytes, path: value.file, range: value.range }];
  if ("text" in value) return [{ name, bytes: value.text.length }];
  return [{ name, bytes }];
}

async function measure({ name, bytes, path, range }: Part, signal: AbortSignal): Promise<Need> {
  if (path === undefined) return { name, size: { bytes, peakBytes: bytes, width: 1 } };
  if (bytes >= MEASURED_BYTES) return { name, size: await measureText(path, range, signal) };
  const least = Math.floor(bytes / 2); // a character that takes one byte in memory takes at most two in UTF-8
  return { name, size: { bytes: least, peakBytes: least, width: 1 } };
}
