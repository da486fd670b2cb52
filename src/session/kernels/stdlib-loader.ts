// Loads the standard library into a session.

import type { Kernel } from "../../kernel/kernel.ts";
import type { ExecutionError } from "../../protocol/execution.ts";
import type { StdlibState } from "../../protocol/sessions.ts";
import type { StatusEvent } from "../../protocol/worker/worker-events.ts";

export const NO_STDLIB: StdlibState = { loaded: false, error: null };
/** For the source to run; past it the session goes without. */
const LIMIT_MS = 5_000;

/** For a source that could not be read. */
export function toUnreadable(error: unknown): StdlibState {
  return { loaded: false, error: { name: "OSError", value: (error as Error).message, traceback: "" } };
}

/** Runs the source in the namespace. Never rejects; the worker may be lost over it. */
export async function loadStdlib(kernel: Kernel, source: string | undefined): Promise<StdlibState> {
  if (source === undefined) return NO_STDLIB;
  const status = await kernel.request({ cmd: "stdlib", source }, { limitMs: LIMIT_MS });
  const error = toError(status);
  return { loaded: error === null, error };
}

export function toError(status: StatusEvent | undefined): ExecutionError | null {
  if (status === undefined) {
    return { name: "WorkerLost", value: "the worker ended while the standard library was loaded", traceback: "" };
  }
  const error = status.data?.["error"] ?? status.error;
  if (error === undefined) return null;
  const { name, value, traceback } = error as Readonly<Record<string, unknown>>;
  return { name: toText(name), value: toText(value), traceback: toText(traceback) };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
