// The SDK: every public name.

export { openRuntime, DEFAULT_LIMITS } from "./runtime.ts";
export type {
  CallHandler,
  Checkpoint,
  EnvironmentReport,
  ExecuteOptions,
  Execution,
  FileContent,
  FileOptions,
  FileRangeOptions,
  FileReadOptions,
  Files,
  FileWatch,
  HistoryEntry,
  HostCall,
  InputHandler,
  InputRequest,
  InspectOptions,
  Limits,
  LookOptions,
  LoadReport,
  Mount,
  OperationOptions,
  OutputSlice,
  Result,
  Runtime,
  RuntimeOptions,
  SaveReport,
  Session,
  SessionInfo,
  SessionOptions,
  VariablesOptions,
  VariableValue,
} from "./runtime.ts";
export {
  EnvironmentUnavailableError,
  FileError,
  ForkRefusedError,
  InspectionError,
  LimitExceededError,
  REPLExecutionError,
  REPLSecurityError,
  RLMError,
  SessionBusyError,
  SessionClosedError,
  SessionExistsError,
  SessionNotFoundError,
  SessionStateError,
  WorkerLostError,
} from "./errors.ts";
export type { FileReason } from "./errors.ts";
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
export type { FileChange, FileEntry, FileKind, FileListing } from "./protocol/files.ts";
export type { ExecutionId, SessionId } from "./protocol/ids.ts";
export type {
  Column,
  Completion,
  CompletionType,
  Completions,
  Incomplete,
  InspectedVariable,
  Signature,
  Variable,
  VariableKind,
  VariableList,
  VariableText,
} from "./protocol/variables.ts";
export type { SkippedVariable } from "./protocol/session-manifest.ts";
