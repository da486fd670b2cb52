// Why the context of a run could not be loaded.

import { REPLExecutionError, SessionStateError } from "../../errors.ts";
import { formatCount, formatSize } from "../../util/text/format.ts";
import { isFiles, type ContextItem } from "./context-item.ts";
import { memoryAdvice, sizeOf } from "./memory-need.ts";

interface Attempt {
  readonly items: readonly ContextItem[];
  /** What was being loaded. Undefined: nothing yet. */
  readonly item: ContextItem | undefined;
  /** What the session may use. */
  readonly memoryBytes: number;
}

export function toLoadError(error: unknown, { items, item, memoryBytes }: Attempt): Error {
  const why = isOutOfMemory(error)
    ? `${describeSize(error, item, memoryBytes)}. ${memoryAdvice(Math.max(memoryBytes, sizeOf(items)))}`
    : describe(error);
  return new Error(`Cannot load the context: ${why}`, { cause: error });
}

/** Python speaks of a single value, or of a batch of files. */
function describeSize(error: unknown, item: ContextItem | undefined, memoryBytes: number): string {
  if (item === undefined || !isFiles(item.value)) return describe(error);
  const files = `${formatCount(item.value.length, "file")}, ${formatSize(item.bytes)},`;
  return `${files} do not fit into the ${formatSize(memoryBytes)} of memory of a session`;
}

function describe(error: unknown): string {
  if (error instanceof SessionStateError) return error.why;
  if (error instanceof REPLExecutionError) return lastLine(error);
  return error instanceof Error ? error.message : String(error);
}

function isOutOfMemory(error: unknown): boolean {
  if (error instanceof REPLExecutionError)
    return error.reason === "memory" || lastLine(error).startsWith("MemoryError");
  return error instanceof SessionStateError && error.cause instanceof Error && error.cause.name === "MemoryError";
}

function lastLine({ traceback, reason }: REPLExecutionError): string {
  return traceback.trimEnd().split("\n").at(-1) || reason;
}
