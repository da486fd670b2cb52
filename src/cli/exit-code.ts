// How the program ends: the one table from results and errors to exit codes.
//
//   0 ok · 1 the code raised · n the code said exit(n) · 2 wrong usage · 70 our own failure
//   124 time limit · 130 cancelled (Ctrl-C) · 141 nobody reads the output any more · 143 asked to end (SIGTERM)

import { RLMError } from "../errors.ts";
import type { ExecutionResult, InterruptReason } from "../protocol/execution.ts";
import { UsageError } from "./usage-error.ts";

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  failure: 70,
  hungUp: 129,
  cancelled: 130,
  unread: 141,
  ended: 143,
} as const;

const BY_REASON: Readonly<Record<InterruptReason, number>> = {
  timeout: 124,
  cancelled: EXIT.cancelled,
  memory: EXIT.failure,
  "worker-lost": EXIT.failure,
};

/** Codes of our errors that a different command line would have avoided. Every other one is our own failure. */
const USAGE_CODES: readonly string[] = ["SECURITY", "CONFIGURATION"];

export function fromResult(result: ExecutionResult): number {
  switch (result.status) {
    case "ok":
      return EXIT.ok;
    case "error":
      return EXIT.error;
    case "exit":
      return result.exitCode ?? EXIT.ok;
    case "interrupted":
      return BY_REASON[result.reason ?? "worker-lost"];
  }
}

export function fromError(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof RLMError && USAGE_CODES.includes(error.code)) return EXIT.usage;
  return EXIT.failure;
}
