// Every error of this package. Each comment says what is still usable afterwards and whether a retry can help.
//
// A Python exception in a session is a result, not an error. A mistake in calling the API is a TypeError or RangeError.

/** Every code of an error of this package. */
export type ErrorCode =
  | "EXECUTION_FAILED"
  | "SECURITY"
  | "FILE"
  | "SESSION_STATE"
  | "STDLIB"
  | "ENVIRONMENT_UNAVAILABLE"
  | "SESSION_BUSY"
  | "SESSION_NOT_FOUND"
  | "SESSION_EXISTS"
  | "SESSION_CLOSED"
  | "EXECUTION_NOT_FOUND"
  | "TASK_NOT_FOUND"
  | "TASK_STATE"
  | "RUN_NOT_FOUND"
  | "VARIABLE_NOT_FOUND"
  | "ID_REUSED"
  | "FORK_REFUSED"
  | "CAPABILITY_MISSING"
  | "LIMIT_EXCEEDED"
  | "INSPECTION_FAILED"
  | "WORKER_LOST"
  | "MAX_DEPTH_EXCEEDED"
  | "TOKEN_BUDGET_EXHAUSTED"
  | "TOOL_BUDGET_EXHAUSTED"
  | "PRICE_UNKNOWN"
  | "TOOL_NOT_FOUND"
  | "CONFIGURATION"
  | "BACKEND"
  | "SERVER_CONNECTION"
  | "SERVER_REFUSED";

/** Base class. `code` is stable; messages may change. */
export abstract class RLMError extends Error {
  /** Stable; for programs. */
  abstract readonly code: ErrorCode;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The part of a result that the error reports. */
interface FailedExecution {
  readonly executionId: string;
  readonly sessionId: string;
  readonly status: string;
  readonly reason?: string;
  readonly state: string;
  readonly error?: { readonly name: string; readonly value: string; readonly traceback: string };
}

/** Code failed and the caller used `result.unwrap()`. The session keeps its state if `sessionAlive`. */
export class REPLExecutionError extends RLMError {
  readonly code = "EXECUTION_FAILED";
  /** Why it was interrupted, or its status. */
  readonly reason: string;
  /** Empty: there is none. */
  readonly traceback: string;
  /** Whether the state of the session is there. */
  readonly sessionAlive: boolean;
  constructor(result: FailedExecution, options?: ErrorOptions) {
    const reason = result.reason ?? result.status;
    const what = result.error ? `${result.error.name}: ${result.error.value}` : reason;
    super(`Execution ${result.executionId} in session ${result.sessionId} failed: ${what}`, options);
    this.reason = reason;
    this.traceback = result.error?.traceback ?? "";
    this.sessionAlive = result.state !== "lost";
  }
}

/** The host refused a mount, a path or a message from a worker. Other sessions are not affected. */
export class REPLSecurityError extends RLMError {
  readonly code = "SECURITY";
  /** What was refused. */
  readonly action: string;
  /** On what. */
  readonly target: string;
  /** Of the session. */
  readonly environment: string;
  constructor(
    { action, target, environment, why }: { action: string; target: string; environment: string; why: string },
    options?: ErrorOptions,
  ) {
    super(`Cannot ${action} '${target}': ${why}`, options);
    this.action = action;
    this.target = target;
    this.environment = environment;
  }
}

/** A file operation failed; see `reason`. The session is alive and the file is unchanged. */
export class FileError extends RLMError {
  readonly code = "FILE";
  /** As the caller gave it. */
  readonly path: string;
  /** Why it failed. */
  readonly reason: FileReason;
  constructor(
    { action, path, reason, why }: { action: string; path: string; reason: FileReason; why: string },
    options?: ErrorOptions,
  ) {
    super(`Cannot ${action} '${path}': ${why}`, options);
    this.path = path;
    this.reason = reason;
  }
}

/** `denied`: by permissions, by a limit, or because it is never allowed; the message says which. */
export type FileReason =
  | "not-found"
  | "exists"
  | "not-a-folder"
  | "is-a-folder"
  | "not-a-file"
  | "no-space"
  | "too-large"
  | "denied";

/** A variable was not set, or a state was not saved or loaded; see `why`. The previous state is unchanged. */
export class SessionStateError extends RLMError {
  readonly code = "SESSION_STATE";
  /** Null if there is no session yet. */
  readonly sessionId: string | null;
  /** What was tried. */
  readonly action: string;
  /** Why it was not done. */
  readonly why: string;
  constructor(
    { action, sessionId, why }: { action: string; sessionId: string | null; why: string },
    options?: ErrorOptions,
  ) {
    super(`Cannot ${action}${sessionId === null ? "" : ` in session '${sessionId}'`}: ${why}`, options);
    this.sessionId = sessionId;
    this.action = action;
    this.why = why;
  }
}

/** The standard library is unchanged: the source is not valid Python, or the file cannot be used. */
export class StdlibError extends RLMError {
  readonly code = "STDLIB";
  /** What is wrong. */
  readonly why: string;
  constructor({ action, why }: { action: string; why: string }, options?: ErrorOptions) {
    super(`Cannot ${action} the standard library: ${why}`, options);
    this.why = why;
  }
}

/** No session was started: the environment cannot keep its guarantees on this machine. `fix` says what to change. */
export class EnvironmentUnavailableError extends RLMError {
  readonly code = "ENVIRONMENT_UNAVAILABLE";
  /** Its name. */
  readonly environment: string;
  /** What is missing. */
  readonly why: string;
  /** What to change. */
  readonly fix: string;
  constructor({ environment, why, fix }: { environment: string; why: string; fix: string }, options?: ErrorOptions) {
    super(`Cannot use environment '${environment}': ${why}. ${fix}`, options);
    this.environment = environment;
    this.why = why;
    this.fix = fix;
  }
}

/** Nothing was queued: the session's queue is full. Retry when some executions have ended. */
export class SessionBusyError extends RLMError {
  readonly code = "SESSION_BUSY";
  /** The busy session. */
  readonly sessionId: string;
  /** Executions in its queue. */
  readonly waiting: number;
  constructor({ sessionId, waiting }: { sessionId: string; waiting: number }, options?: ErrorOptions) {
    super(
      `Cannot queue an execution in session '${sessionId}': ${waiting} are waiting already. Try again when some have ended`,
      options,
    );
    this.sessionId = sessionId;
    this.waiting = waiting;
  }
}

/** There is no such session, or it was closed. Nothing happened. */
export class SessionNotFoundError extends RLMError {
  readonly code = "SESSION_NOT_FOUND";
  /** The unknown id. */
  readonly sessionId: string;
  constructor({ sessionId, known }: { sessionId: string; known: readonly string[] }, options?: ErrorOptions) {
    const others = known.length > 0 ? `existing: ${known.slice(0, 20).join(", ")}` : "there are none";
    super(`Cannot find session '${sessionId}': ${others}`, options);
    this.sessionId = sessionId;
  }
}

/** No session was created: a live session has this id. That session is not affected. */
export class SessionExistsError extends RLMError {
  readonly code = "SESSION_EXISTS";
  /** The id that is taken. */
  readonly sessionId: string;
  constructor({ sessionId }: { sessionId: string }, options?: ErrorOptions) {
    super(`Cannot create session '${sessionId}': a session with this id exists`, options);
    this.sessionId = sessionId;
  }
}

/** There is no such execution, or it ended too long ago. Nothing happened. */
export class ExecutionNotFoundError extends RLMError {
  readonly code = "EXECUTION_NOT_FOUND";
  /** The unknown id. */
  readonly executionId: string;
  constructor({ executionId }: { executionId: string }, options?: ErrorOptions) {
    super(`Cannot find execution '${executionId.slice(0, 100)}': it does not exist, or ended too long ago`, options);
    this.executionId = executionId;
  }
}

/** The namespace has no such name. Nothing happened. */
export class VariableNotFoundError extends RLMError {
  readonly code = "VARIABLE_NOT_FOUND";
  /** The unknown name. */
  readonly variable: string;
  constructor({ variable }: { variable: string }, options?: ErrorOptions) {
    super(`Cannot find variable '${variable.slice(0, 100)}': the session has no such name`, options);
    this.variable = variable;
  }
}

/** Nothing was started: the id names other work. Use another id for it. */
export class IdReusedError extends RLMError {
  readonly code = "ID_REUSED";
  /** The id that is taken. */
  readonly id: string;
  constructor({ id, kind }: { id: string; kind: "execution" | "task" | "run" }, options?: ErrorOptions) {
    super(
      `Cannot start ${kind === "execution" ? "an" : "a"} ${kind} as '${id.slice(0, 100)}': the id names other work`,
      options,
    );
    this.id = id;
  }
}

/** There is no such task, or it ended long ago. Nothing happened. */
export class TaskNotFoundError extends RLMError {
  readonly code = "TASK_NOT_FOUND";
  /** The unknown id. */
  readonly taskId: string;
  constructor({ taskId, known }: { taskId: string; known: readonly string[] }, options?: ErrorOptions) {
    const others = known.length > 0 ? `the latest are ${known.slice(-20).join(", ")}` : "there are none";
    super(
      `Cannot find task '${taskId}': ${others}. Finished tasks are kept for an hour, and only the latest of many`,
      options,
    );
    this.taskId = taskId;
  }
}

/** The task is unchanged: its state or its kind does not allow the action. */
export class TaskStateError extends RLMError {
  readonly code = "TASK_STATE";
  /** The task. */
  readonly taskId: string;
  /** What does not allow the action. */
  readonly why: string;
  constructor({ action, taskId, why }: { action: string; taskId: string; why: string }, options?: ErrorOptions) {
    super(`Cannot ${action} task '${taskId}': ${why}`, options);
    this.taskId = taskId;
    this.why = why;
  }
}

/** The session is unchanged: an exact copy was not possible, or there was nothing to return to; see `why`. */
export class ForkRefusedError extends RLMError {
  readonly code = "FORK_REFUSED";
  /** What prevents it. */
  readonly why: string;
  /** What the environment of the session lacks, so that a retry never helps. Null if that was not the reason. */
  readonly capability: string | null;
  constructor(
    { action, why, capability = null }: { action: string; why: string; capability?: string | null },
    options?: ErrorOptions,
  ) {
    super(`Cannot ${action}: ${why}`, options);
    this.why = why;
    this.capability = capability;
  }
}

/** Nothing was started: the environment does not have the capability. Do what `why` suggests; a retry alone never helps. */
export class CapabilityMissingError extends RLMError {
  readonly code = "CAPABILITY_MISSING";
  /** What is missing. */
  readonly capability: string;
  /** Where it is missing. */
  readonly environment: string;
  /** The reason, and what to do instead. */
  readonly why: string;
  constructor(
    { action, capability, environment, why }: { action: string; capability: string; environment: string; why: string },
    options?: ErrorOptions,
  ) {
    super(`Cannot ${action}: ${why}`, options);
    this.capability = capability;
    this.environment = environment;
    this.why = why;
  }
}

/** The session was closed by its owner, by idle expiry or with the runtime. Its state is lost; open another. */
export class SessionClosedError extends RLMError {
  readonly code = "SESSION_CLOSED";
  /** The closed session. */
  readonly sessionId: string;
  constructor({ sessionId, why }: { sessionId: string; why: string }, options?: ErrorOptions) {
    super(`Cannot use session '${sessionId}': ${why}`, options);
    this.sessionId = sessionId;
  }
}

/** Nothing was created: a limit of the runtime was reached. Close something, or raise the limit. */
export class LimitExceededError extends RLMError {
  readonly code = "LIMIT_EXCEEDED";
  /** The name of the limit. */
  readonly limit: string;
  /** Its value. */
  readonly value: number;
  constructor({ what, limit, value }: { what: string; limit: string; value: number }, options?: ErrorOptions) {
    super(`Cannot ${what}: the limit is ${value}. Close something, or raise limits.${limit}`, options);
    this.limit = limit;
    this.value = value;
  }
}

/** The namespace could not be inspected. The session is unchanged. Retry when the running code has progressed. */
export class InspectionError extends RLMError {
  readonly code = "INSPECTION_FAILED";
  /** The session. */
  readonly sessionId: string;
  /** What prevents it. */
  readonly why: string;
  constructor({ sessionId, what, why }: { sessionId: string; what: string; why: string }, options?: ErrorOptions) {
    super(`Cannot ${what} in session '${sessionId}': ${why}`, options);
    this.sessionId = sessionId;
    this.why = why;
  }
}

/** A worker or the fork server ended or sent an invalid message. Its sessions lost their state; new ones can be opened. */
export class WorkerLostError extends RLMError {
  readonly code = "WORKER_LOST";
}

/** No sub-call was started: the run is at its depth limit. The run continues without it. */
export class MaxDepthExceeded extends RLMError {
  readonly code = "MAX_DEPTH_EXCEEDED";
  /** Of the call. */
  readonly depth: number;
  /** The deepest that is allowed. */
  readonly limit: number;
  constructor({ depth, limit }: { depth: number; limit: number }, options?: ErrorOptions) {
    super(`Cannot start a sub-call at depth ${depth}: the limit is ${limit}`, options);
    this.depth = depth;
    this.limit = limit;
  }
}

/** The run has ended: it and its sub-calls used their token budget. `partial` is the best answer, null if there is none. */
export class TokenBudgetExhausted extends RLMError {
  readonly code = "TOKEN_BUDGET_EXHAUSTED";
  /** Tokens, input and output. */
  readonly used: number;
  /** What was allowed. */
  readonly limit: number;
  /** The best answer. Null: there is none. */
  readonly partial: string | null;
  constructor(
    { used, limit, partial }: { used: number; limit: number; partial: string | null },
    options?: ErrorOptions,
  ) {
    super(`Cannot go on: ${used} of ${limit} tokens are used`, options);
    this.used = used;
    this.limit = limit;
    this.partial = partial;
  }
}

/** As TokenBudgetExhausted, for tool calls. */
export class ToolBudgetExhausted extends RLMError {
  readonly code = "TOOL_BUDGET_EXHAUSTED";
  /** Calls of tools. */
  readonly used: number;
  /** What was allowed. */
  readonly limit: number;
  /** The best answer. Null: there is none. */
  readonly partial: string | null;
  constructor(
    { used, limit, partial }: { used: number; limit: number; partial: string | null },
    options?: ErrorOptions,
  ) {
    super(`Cannot go on: ${used} of ${limit} calls of tools are used`, options);
    this.used = used;
    this.limit = limit;
    this.partial = partial;
  }
}

/** The model was not called: the run has a cost limit and the model's price is unknown. Other models can be called. */
export class PriceUnknownError extends RLMError {
  readonly code = "PRICE_UNKNOWN";
  /** The model without a price. */
  readonly model: string;
  constructor({ model }: { model: string }, options?: ErrorOptions) {
    super(
      `Cannot call model '${model}' under a limit on the cost: its price is not known. Give it a price, or no limit`,
      options,
    );
    this.model = model;
  }
}

/** No tool of this name is registered. The session is alive. */
export class ToolNotFoundError extends RLMError {
  readonly code = "TOOL_NOT_FOUND";
  /** The unknown name. */
  readonly tool: string;
  /** The names that there are. */
  readonly known: readonly string[];
  constructor({ tool, known }: { tool: string; known: readonly string[] }, options?: ErrorOptions) {
    const others = known.length > 0 ? `there are ${known.slice(0, 20).join(", ")}` : "there are none";
    super(`Cannot call tool '${tool}': ${others}`, options);
    this.tool = tool;
    this.known = known;
  }
}

/** Nothing was started: a configuration file, an environment variable or `.env` has an invalid value. */
export class ConfigurationError extends RLMError {
  readonly code = "CONFIGURATION";
  /** The file, or the name of the environment variable. */
  readonly source: string;
  /** Null if there is none. */
  readonly line: number | null;
  /** What is wrong. */
  readonly why: string;
  constructor({ source, line, why }: { source: string; line: number | null; why: string }, options?: ErrorOptions) {
    super(`Cannot use ${source}${line === null ? "" : `:${line}`}: ${why}`, options);
    this.source = source;
    this.line = line;
    this.why = why;
  }
}

/** Why a model call failed. */
export type BackendFault =
  | "configuration"
  | "authentication"
  | "rate-limit"
  | "bad-request"
  | "context-too-long"
  | "server"
  | "connection"
  | "timeout"
  | "malformed"
  | "empty"
  | "refusal";

/** A model could not be reached, or its reply was unusable. Retry if `retryable`, after `retryAfterMs` if it is set. */
export class BackendConnectionError extends RLMError {
  readonly code = "BACKEND";
  /** Its name. */
  readonly backend: string;
  /** Why the call failed. */
  readonly fault: BackendFault;
  /** The HTTP status; null if there was no response. */
  readonly status: number | null;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asks to wait. Null: it does not say. */
  readonly retryAfterMs: number | null;
  constructor(
    fault: {
      backend: string;
      fault: BackendFault;
      why: string;
      status?: number | null;
      retryable: boolean;
      retryAfterMs?: number | null;
    },
    options?: ErrorOptions,
  ) {
    super(`Cannot get an answer from ${fault.backend}: ${fault.why}`, options);
    this.backend = fault.backend;
    this.fault = fault.fault;
    this.status = fault.status ?? null;
    this.retryable = fault.retryable;
    this.retryAfterMs = fault.retryAfterMs ?? null;
  }
}

/** No recorded run has this id, or several begin with it. Nothing happened. */
export class RunNotFoundError extends RLMError {
  readonly code = "RUN_NOT_FOUND";
  /** The unknown id. */
  readonly runId: string;
  constructor({ runId, why }: { runId: string; why: string }, options?: ErrorOptions) {
    super(`Cannot find run '${runId.slice(0, 80)}': ${why}`, options);
    this.runId = runId;
  }
}

/**
 * No usable response from a server. `configuration`: the address or the token is wrong, so a retry never helps. `connection`: the server
 * could not be reached, and work that was started there may go on.
 */
export class ServerConnectionError extends RLMError {
  readonly code = "SERVER_CONNECTION";
  /** Whether a retry can help. */
  readonly fault: "configuration" | "connection";
  /** The address of the server. */
  readonly url: string;
  constructor(
    { url, fault, why }: { url: string; fault: "configuration" | "connection"; why: string },
    options?: ErrorOptions,
  ) {
    super(why, options);
    this.fault = fault;
    this.url = url;
  }
}

/** The server refused a request for a reason that no other error stands for; see `problem`. Nothing was started. */
export class ServerRefusedError extends RLMError {
  readonly code = "SERVER_REFUSED";
  /** The HTTP status, such as 429. */
  readonly status: number;
  /** The server's own code, such as `RATE_LIMITED`. */
  readonly problem: string;
  constructor(
    { status, problem, detail }: { status: number; problem: string; detail: string },
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.status = status;
    this.problem = problem;
  }
}
