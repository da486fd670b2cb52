// Converts the outcome of an execution into the result for its caller.

import type { WorkerExit } from "../environments/environment.ts";
import { ResultViewer, type Result as PublicResult } from "../api/result-view.ts";
import type { Outcome } from "../kernel/outcome.ts";
import type { PrintedOutput } from "../output/printed-output.ts";
import type {
  Cut,
  ExecutionError,
  ExecutionResult,
  ExecutionStatus,
  InterruptReason,
  MimeBundle,
  StateAfter,
  Usage,
} from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";
import type { Displays } from "./execution/displays.ts";

/** What the session knows of an execution besides its outcome. */
export interface ResultContext {
  readonly execution: {
    readonly id: ExecutionId;
    readonly sessionId: SessionId;
    readonly count: number;
    readonly printed: PrintedOutput;
  };
  readonly epoch: number;
  readonly displays: Displays;
}

/** No outcome: the execution was cancelled before it started. */
export function createResult(context: ResultContext, outcome?: Outcome): PublicResult {
  return new Result(context, outcome) as unknown as PublicResult; // the verdict decides which fields are set, by the status
}

/** Approximately: the characters of its texts. */
export function sizeOfResult({ stdout, stderr, value, displays, error }: ExecutionResult): number {
  let size = stdout.length + stderr.length + (error?.traceback.length ?? 0) + sizeOfBundle(value);
  for (const bundle of displays) size += sizeOfBundle(bundle);
  return size;
}

/** In characters. */
export function sizeOfBundle(bundle: MimeBundle | undefined): number {
  let size = 0;
  for (const type in bundle) size += bundle[type]?.length ?? 0;
  return size;
}

/** One class for all results, so that they have one shape. Its name is what `console.log` shows. */
class Result extends ResultViewer {
  readonly status: ExecutionStatus;
  readonly stdout: string = "";
  readonly stderr: string = "";
  declare readonly value?: MimeBundle;
  readonly displays: readonly MimeBundle[];
  declare readonly error?: ExecutionError;
  declare readonly incomplete?: true;
  declare readonly reason?: InterruptReason;
  readonly state: StateAfter;
  declare readonly exitCode?: number;
  readonly truncated: ExecutionResult["truncated"] = null;
  readonly sessionId: SessionId;
  readonly executionId: ExecutionId;
  readonly executionCount: number;
  readonly epoch: number;
  readonly durationMs: number = 0;
  readonly usage: Usage = NO_USAGE;

  constructor({ execution, epoch, displays }: ResultContext, outcome?: Outcome) {
    super();
    const verdict = toVerdict(outcome);
    this.status = verdict.status;
    this.state = verdict.state;
    if (verdict.value !== undefined) this.value = verdict.value;
    if (verdict.error !== undefined) this.error = verdict.error;
    if (verdict.incomplete === true) this.incomplete = true;
    if (verdict.reason !== undefined) this.reason = verdict.reason;
    if (verdict.exitCode !== undefined) this.exitCode = verdict.exitCode;
    this.displays = displays.kept;
    this.sessionId = execution.sessionId;
    this.executionId = execution.id;
    this.executionCount = execution.count;
    this.epoch = epoch;
    if (outcome === undefined) return;
    this.durationMs = outcome.durationMs;
    if (outcome.kind === "status") {
      this.usage = { cpuMs: outcome.status.cpuMs, peakMemoryBytes: outcome.status.peakBytes };
    }
    const { stdout, stderr, truncated } = execution.printed.summary();
    this.stdout = stdout;
    this.stderr = stderr;
    const value = toValueCut(outcome);
    const { cut } = displays;
    this.truncated =
      value === null && cut === null
        ? truncated
        : { ...truncated, ...(value && { value }), ...(cut && { displays: cut }) };
  }
}

interface Verdict {
  readonly status: ExecutionStatus;
  readonly state: StateAfter;
  readonly value?: MimeBundle;
  readonly error?: ExecutionError;
  readonly incomplete?: boolean;
  readonly reason?: InterruptReason;
  readonly exitCode?: number;
}

const NO_USAGE: Usage = { cpuMs: 0, peakMemoryBytes: 0 };
const NEVER_STARTED: Verdict = { status: "interrupted", reason: "cancelled", state: "kept" };
const INTERRUPTED: ExecutionError = { name: "KeyboardInterrupt", value: "", traceback: "KeyboardInterrupt" };

function toVerdict(outcome: Outcome | undefined): Verdict {
  if (outcome === undefined || outcome.kind === "unstarted") return NEVER_STARTED;
  return outcome.kind === "status" ? fromStatus(outcome) : fromLoss(outcome);
}

function fromStatus({ status, stopped }: Extract<Outcome, { kind: "status" }>): Verdict {
  const { value, error = INTERRUPTED, incomplete, exitCode = 0 } = status;
  switch (status.status) {
    case "ok":
      return value === undefined ? { status: "ok", state: "kept" } : { status: "ok", state: "kept", value };
    case "error":
      return { status: "error", state: "kept", error, incomplete };
    case "exit":
      return { status: "exit", state: "kept", exitCode };
    case "interrupted":
      // Unless we stopped it, the code sent the signal to itself.
      if (stopped === null) return { status: "error", state: "kept", error };
      return { status: "interrupted", state: "kept", error, reason: stopped };
  }
}

function fromLoss({ exit, violation, isRestored }: Extract<Outcome, { kind: "lost" }>): Verdict {
  const state = isRestored === true ? "restored" : "lost";
  if (exit.kind === "code" && exit.reason === null) return { status: "exit", exitCode: exit.code, state };
  const [reason, name, value] = explainLoss(exit, violation);
  return { status: "interrupted", reason, state, error: { name, value, traceback: `${name}: ${value}` } };
}

const NO_ANSWER = "the code did not stop when interrupted, so its worker was ended";
const NO_MEMORY = "more memory was used than the session, or all sessions together, may use";

/** The reason, and the name and the value of the error. */
function explainLoss(exit: WorkerExit, violation: string | null): readonly [InterruptReason, string, string] {
  const cause = exit.kind === "sandbox-gone" ? null : exit.reason;
  switch (cause) {
    case "timeout":
      return ["timeout", "TimeoutError", NO_ANSWER];
    case "cancelled":
      return ["cancelled", "Cancelled", NO_ANSWER];
    case "closed":
      return ["cancelled", "Cancelled", "the session was closed"];
    case "memory":
      return ["memory", "MemoryLimitExceeded", NO_MEMORY];
    case "violation":
      return ["worker-lost", "ProtocolViolation", violation ?? "the worker broke the protocol"];
    case null:
      return ["worker-lost", "WorkerLost", describeEnd(exit)];
  }
}

function describeEnd(exit: WorkerExit): string {
  return exit.kind === "signal" ? `the worker was killed by signal ${exit.signal}` : "the sandbox ended";
}

function toValueCut(outcome: Outcome): Cut | null {
  if (outcome.kind !== "status" || outcome.status.valueTotal === undefined) return null;
  const { valueTotal: total, value } = outcome.status;
  return { total, omitted: Math.max(0, total - (value?.["text/plain"]?.length ?? 0)) };
}
