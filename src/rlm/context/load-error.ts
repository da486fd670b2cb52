// Why the context of a run could not be loaded.

import { REPLExecutionError, SessionStateError } from "../../errors.ts";

export function toLoadError(error: unknown): Error {
  return new Error(`Cannot load the context: ${describe(error)}`, { cause: error });
}

function describe(error: unknown): string {
  if (error instanceof SessionStateError) return error.why;
  if (error instanceof REPLExecutionError) return error.traceback.trimEnd().split("\n").at(-1) ?? error.reason;
  return error instanceof Error ? error.message : String(error);
}
