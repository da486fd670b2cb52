// Errors from problem documents: the same classes that a runtime on this machine throws.
//
// The server sends the facts of an error beside its code. They are hostile until checked: a class takes its own fields and no others, and a
// field that is missing or of another type gets a neutral value.

import {
  BackendConnectionError,
  CapabilityMissingError,
  ConfigurationError,
  EnvironmentUnavailableError,
  ExecutionNotFoundError,
  FileError,
  ForkRefusedError,
  IdReusedError,
  InspectionError,
  LimitExceededError,
  MaxDepthExceeded,
  PriceUnknownError,
  REPLExecutionError,
  REPLSecurityError,
  RunNotFoundError,
  ServerRefusedError,
  SessionBusyError,
  SessionClosedError,
  SessionExistsError,
  SessionNotFoundError,
  SessionStateError,
  StdlibError,
  TaskNotFoundError,
  TaskStateError,
  TokenBudgetExhausted,
  ToolBudgetExhausted,
  ToolNotFoundError,
  VariableNotFoundError,
  WorkerLostError,
} from "../../errors.ts";
import {
  array,
  boolean,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  unknown,
  type Check,
} from "../shapes/check.ts";

/** The part of a problem document that is used. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

export const problem: Check<Problem> = object({
  status: number,
  code: string,
  detail: string,
  facts: optional(record(unknown)),
});

type Fields = Readonly<Record<string, readonly [check: Check<unknown>, neutral: unknown]>>;

const text = [string, ""] as const;
const maybeText = [nullable(string), null] as const;
const amount = [number, 0] as const;
const maybeAmount = [nullable(number), null] as const;
const truth = [boolean, false] as const;
const never = (() => false) as unknown as Check<unknown>;
const texts = [array(string), []] as const;
const used = { used: amount, limit: amount, partial: maybeText };

/** By code: the class, and its own fields. */
const CLASSES: Readonly<Record<string, readonly [{ readonly prototype: Error }, Fields]>> = {
  EXECUTION_FAILED: [REPLExecutionError, { reason: text, traceback: text, sessionAlive: truth }],
  SECURITY: [REPLSecurityError, { action: text, target: text, environment: text }],
  FILE: [FileError, { path: text, reason: [string, "denied"] }],
  SESSION_STATE: [SessionStateError, { sessionId: maybeText, action: text, why: text }],
  STDLIB: [StdlibError, { why: text }],
  ENVIRONMENT_UNAVAILABLE: [EnvironmentUnavailableError, { environment: text, why: text, fix: text }],
  SESSION_BUSY: [SessionBusyError, { sessionId: text, waiting: amount }],
  SESSION_NOT_FOUND: [SessionNotFoundError, { sessionId: text }],
  SESSION_EXISTS: [SessionExistsError, { sessionId: text }],
  SESSION_CLOSED: [SessionClosedError, { sessionId: text }],
  EXECUTION_NOT_FOUND: [ExecutionNotFoundError, { executionId: text }],
  TASK_NOT_FOUND: [TaskNotFoundError, { taskId: text }],
  TASK_STATE: [TaskStateError, { taskId: text, why: text }],
  RUN_NOT_FOUND: [RunNotFoundError, { runId: text }],
  // For callers a blob is a file of the run.
  BLOB_NOT_FOUND: [FileError, { path: text, reason: [string, "not-found"], code: [never, "FILE"] }],
  VARIABLE_NOT_FOUND: [VariableNotFoundError, { variable: text }],
  ID_REUSED: [IdReusedError, { id: text }],
  FORK_REFUSED: [ForkRefusedError, { why: text, capability: maybeText }],
  CAPABILITY_MISSING: [CapabilityMissingError, { capability: text, environment: text, why: text }],
  LIMIT_EXCEEDED: [LimitExceededError, { limit: text, value: amount }],
  INSPECTION_FAILED: [InspectionError, { sessionId: text, why: text }],
  WORKER_LOST: [WorkerLostError, {}],
  MAX_DEPTH_EXCEEDED: [MaxDepthExceeded, { depth: amount, limit: amount }],
  TOKEN_BUDGET_EXHAUSTED: [TokenBudgetExhausted, used],
  TOOL_BUDGET_EXHAUSTED: [ToolBudgetExhausted, used],
  PRICE_UNKNOWN: [PriceUnknownError, { model: text }],
  TOOL_NOT_FOUND: [ToolNotFoundError, { tool: text, known: texts }],
  CONFIGURATION: [ConfigurationError, { source: text, line: maybeAmount, why: text }],
  BACKEND: [
    BackendConnectionError,
    { backend: text, fault: text, status: maybeAmount, retryable: truth, retryAfterMs: maybeAmount },
  ],
};

/** The code stands for an error of ours, which is final whatever its status is. */
export function isKnown(code: string): boolean {
  return Object.hasOwn(CLASSES, code);
}

/** Codes without a class are ServerRefusedErrors; arguments that only the server could check are RangeErrors. */
export function toError({ status, code, detail, facts: given = {} }: Problem): Error {
  if (status === 422 && code.startsWith("INVALID")) return new RangeError(detail);
  const known = isKnown(code) ? CLASSES[code] : undefined;
  if (known === undefined) return new ServerRefusedError({ status, problem: code, detail });
  const [type, fields] = known;
  // The constructors make messages from facts; the server has made this one already.
  const error = Reflect.construct(Error, [detail], type as unknown as new () => Error) as Error & { code: string };
  // V8 looks for the class among the frames, and leaves all of them out when it is not there.
  (Error as { captureStackTrace?: (error: Error, above: unknown) => void }).captureStackTrace?.(error, toError);
  error.code = code;
  for (const [name, [check, neutral]] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    Object.assign(error, { [name]: check(value) ? value : neutral });
  }
  return error;
}
