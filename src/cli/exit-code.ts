// Exit codes: the one table that maps results and errors to them.
//
//   0 ok · 1 the code raised, the run failed · n the code called exit(n) · 2 wrong usage · 3 a partial answer · 70 our own failure
//   124 time limit · 130 cancelled (Ctrl-C) · 141 the output is no longer read (EPIPE) · 143 SIGTERM

import { BackendConnectionError, RLMError, ServerConnectionError, ServerRefusedError } from "../errors.ts";
import type { ExecutionResult, InterruptReason } from "../protocol/execution.ts";
import type { RunResult, RunStatus } from "../protocol/runs.ts";
import { UsageError } from "./options/usage-error.ts";

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  partial: 3,
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

/** Errors that the user can fix on the command line or in the configuration. All others are our own failures. */
const USAGE_CODES: readonly string[] = ["SECURITY", "CONFIGURATION", "CAPABILITY_MISSING"];

/** Runs that were configured to throw at a limit. */
const FAILED_CODES: readonly string[] = ["MAX_DEPTH_EXCEEDED", "TOKEN_BUDGET_EXHAUSTED", "TOOL_BUDGET_EXHAUSTED"];

/** What was named does not exist, or not in a state that allows this. */
const REFUSED_CODES: readonly string[] = [
  "SESSION_NOT_FOUND",
  "SESSION_CLOSED",
  "SESSION_EXISTS",
  "EXECUTION_NOT_FOUND",
  "TASK_NOT_FOUND",
  "TASK_STATE",
  "RUN_NOT_FOUND",
  "ID_REUSED",
];

/** The server understood the request and refused it. */
const REFUSED_STATUSES: readonly number[] = [400, 403, 404, 405, 409, 410, 413, 422];
/** The server did the work and does not know how it ended. */
const OUTCOME_LOST = "OUTCOME_LOST";

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

const BY_STATUS: Readonly<Record<RunStatus, number>> = {
  final: EXIT.ok,
  partial: EXIT.partial,
  failed: EXIT.error,
  cancelled: EXIT.cancelled,
};

export function fromRunResult({ status }: Pick<RunResult, "status">): number {
  return BY_STATUS[status];
}

/** Of an error that writing to stdout or stderr failed with. */
export function fromWriteError({ code }: NodeJS.ErrnoException): number {
  return code === "EPIPE" ? EXIT.unread : EXIT.failure;
}

export function fromError(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof RLMError && [...USAGE_CODES, ...REFUSED_CODES].includes(error.code)) return EXIT.usage;
  if (error instanceof RLMError && FAILED_CODES.includes(error.code)) return EXIT.error;
  if (error instanceof BackendConnectionError && error.fault === "configuration") return EXIT.usage;
  if (error instanceof ServerConnectionError && error.fault === "configuration") return EXIT.usage;
  if (error instanceof ServerRefusedError && error.problem !== OUTCOME_LOST)
    return REFUSED_STATUSES.includes(error.status) ? EXIT.usage : EXIT.failure;
  return EXIT.failure;
}
