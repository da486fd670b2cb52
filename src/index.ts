// The SDK: every public name.

export { openRuntime, DEFAULT_LIMITS } from "./runtime.ts";
export type {
  CallHandler,
  Checkpoint,
  EnvironmentReport,
  ExecuteOptions,
  Execution,
  HistoryEntry,
  HostCall,
  Limits,
  Mount,
  OutputSlice,
  Result,
  Runtime,
  RuntimeOptions,
  Session,
  SessionInfo,
  SessionOptions,
} from "./runtime.ts";
export {
  EnvironmentUnavailableError,
  ForkRefusedError,
  LimitExceededError,
  REPLExecutionError,
  REPLSecurityError,
  RLMError,
  SessionBusyError,
  SessionClosedError,
  SessionExistsError,
  SessionNotFoundError,
  WorkerLostError,
} from "./errors.ts";
export type { ExecutionEvent, SessionEvent } from "./protocol/events.ts";
export type {
  Cut,
  ExecutionError,
  ExecutionResult,
  ExecutionStatus,
  InterruptReason,
  MimeBundle,
  OutputStream,
  StateAfter,
  Usage,
} from "./protocol/execution.ts";
export type { ExecutionId, SessionId } from "./protocol/ids.ts";
