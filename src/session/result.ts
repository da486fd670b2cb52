// From how an execution ended to what its caller is told.

import type { WorkerExit } from "../environments/environment.ts";
import { REPLExecutionError } from "../errors.ts";
import type { Outcome } from "../kernel/kernel.ts";
import type { ExecutionError, ExecutionResult, InterruptReason, StateAfter } from "../protocol/execution.ts";

/** A result as `session.execute` gives it: plain data, and a way to throw for those who prefer that. */
export interface Result extends ExecutionResult {
  /** The result itself when its status is `ok`; otherwise throws a REPLExecutionError. */
  unwrap(): ExecutionResult;
}

type Verdict = Pick<ExecutionResult, "status" | "state"> &
  Partial<Pick<ExecutionResult, "value" | "error" | "incomplete" | "reason" | "exitCode">>;

/** Status, reason and state; what was printed and the ids are added by the session. */
export function toVerdict(outcome: Outcome): Verdict {
  return outcome.kind === "status" ? fromStatus(outcome) : fromLoss(outcome);
}

export function toResult(fields: ExecutionResult): Result {
  const result = fields as Result;
  Object.defineProperty(result, "unwrap", { value: unwrap, enumerable: false });
  return result;
}

/** The verdict on an execution that never started. */
export const NEVER_STARTED: Verdict = { status: "interrupted", reason: "cancelled", state: "kept" };

function unwrap(this: ExecutionResult): ExecutionResult {
  if (this.status !== "ok") throw new REPLExecutionError(this);
  return this;
}

function fromStatus({ status, stopped }: Extract<Outcome, { kind: "status" }>): Verdict {
  const state: StateAfter = "kept";
  if (status.status === "interrupted") {
    const error = status.error ?? { name: "KeyboardInterrupt", value: "", traceback: "KeyboardInterrupt" };
    // Without a stop of ours it was the code that sent the signal to itself.
    return stopped === null
      ? { status: "error", state, error }
      : { status: "interrupted", state, error, reason: stopped };
  }
  return {
    status: status.status,
    state,
    ...(status.value && { value: status.value }),
    ...(status.error && { error: status.error }),
    ...(status.incomplete && { incomplete: true as const }),
    ...(status.status === "exit" && { exitCode: status.exitCode ?? 0 }),
  };
}

function fromLoss({ exit, violation }: Extract<Outcome, { kind: "lost" }>): Verdict {
  const state: StateAfter = "lost";
  if (exit.kind === "code" && exit.reason === null) return { status: "exit", exitCode: exit.code, state };
  const { reason, error } = explainLoss(exit, violation);
  return { status: "interrupted", reason, state, error };
}

function explainLoss(exit: WorkerExit, violation: string | null): { reason: InterruptReason; error: ExecutionError } {
  const cause = exit.kind === "sandbox-gone" ? null : exit.reason;
  switch (cause) {
    case "timeout":
      return {
        reason: "timeout",
        error: lost("TimeoutError", "the code did not stop when interrupted, so its worker was ended"),
      };
    case "cancelled":
    case "closed":
      return {
        reason: "cancelled",
        error: lost("Cancelled", "the code did not stop when interrupted, so its worker was ended"),
      };
    case "memory":
      return {
        reason: "memory",
        error: lost("MemoryLimitExceeded", "the session used more memory than its limit, so its worker was ended"),
      };
    case "violation":
      return {
        reason: "worker-lost",
        error: lost("ProtocolViolation", `the worker was ended: ${violation ?? "it broke the protocol"}`),
      };
    case null:
      return { reason: "worker-lost", error: lost("WorkerLost", describeEnd(exit)) };
  }
}

function describeEnd(exit: WorkerExit): string {
  if (exit.kind === "signal") return `the worker was killed by signal ${exit.signal}`;
  return "the sandbox ended";
}

function lost(name: string, value: string): ExecutionError {
  return { name, value, traceback: `${name}: ${value}` };
}
