// What may be said about one execution, checked where it enters.

import { checkDuration } from "../util/check-number.ts";
import type { InputHandler } from "./execution/input.ts";

export interface ExecuteOptions {
  /** Running time, waiting for host calls not counted. Null or Infinity: no limit. Default: the runtime's, 55 s. */
  readonly timeoutMs?: number | null;
  /** Environment variables for this execution only. */
  readonly env?: Readonly<Record<string, string>>;
  /** What tracebacks call the code. Default: `<cell N>`. */
  readonly fileName?: string;
  /** Aborting interrupts the code; when it waits in the queue it never starts. */
  readonly signal?: AbortSignal;
  /** Answers `input()` and reads of `sys.stdin`. Default: nobody does, and the code sees the end of input. */
  readonly onInput?: InputHandler;
}

export function checkExecuteOptions(code: unknown, { timeoutMs, env }: ExecuteOptions): void {
  if (typeof code !== "string") throw new TypeError(`Cannot execute a ${typeof code}: code must be a string`);
  checkDuration("timeoutMs", timeoutMs);
  if (env !== undefined) checkEnvironment(env);
}

export function checkEnvironment(env: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || name.includes("=") || name.includes("\0")) {
      throw new RangeError(`Cannot set environment variable '${name}': the name is not valid`);
    }
    if (typeof value !== "string" || value.includes("\0")) {
      throw new TypeError(`Cannot set environment variable '${name}': the value must be a string without NUL`);
    }
  }
}
