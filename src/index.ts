// The SDK: every public name.

export { openRuntime } from "./runtime.ts";
export { defineTool } from "./tools/tool.ts";
export { executeCode, fileRead } from "./tools/builtins.ts";
export { DEFAULT_LIMITS } from "./session/limits.ts";
export { ScriptedBackend } from "./backends/scripted/scripted.ts";
export type { Runtime, RuntimeOptions } from "./runtime.ts";
export type { Backend, BackendPart, BackendRequest, ChatMessage, ModelPrice, TokenUsage } from "./backends/backend.ts";
export type { CallHandler, HostCall } from "./kernel/calls.ts";
export type { Context, ContextValue } from "./rlm/context/context-items.ts";
export type { EnvironmentReport, Mount } from "./environments/environment.ts";
export type { ExecuteOptions } from "./session/options.ts";
export type { Execution } from "./session/execution/execution.ts";
export type { ExecutionTask } from "./tasks/execution-task.ts";
export type { FileContent, FileOptions, FileRangeOptions, FileReadOptions, Files } from "./session/files/files.ts";
export type { FileWatch } from "./session/files/file-watch.ts";
export type { InputHandler, InputRequest } from "./session/execution/input.ts";
export type { InspectOptions, LookOptions, VariablesOptions } from "./session/inspect/inspector-options.ts";
export type { Limits } from "./session/limits.ts";
export type { SaveReport } from "./session/state/save-state.ts";
export type { OperationOptions } from "./session/kernels/interruptible.ts";
export type { OutputRange, OutputSlice } from "./output/output-slice.ts";
export type { Result } from "./session/result.ts";
export type { RLM, RLMLimits, RLMOptions, RunRequest } from "./rlm/rlm.ts";
export type { Run } from "./rlm/run.ts";
export type { RunTask } from "./tasks/run-task.ts";
export type { Session } from "./session/session.ts";
export type { SessionOptions } from "./session/session-options.ts";
export type { ShellOptions } from "./tasks/shell-options.ts";
export type { ShellTask } from "./tasks/shell-task.ts";
export type { StandardLibrary } from "./session/state/stdlib.ts";
export type { Task, Tasks } from "./tasks/tasks.ts";
export type { Tool, ToolContext } from "./tools/tool.ts";
export type { VariableValue } from "./session/state/set-variable.ts";
export {
  BackendConnectionError,
  EnvironmentUnavailableError,
  FileError,
  ForkRefusedError,
  InspectionError,
  LimitExceededError,
  MaxDepthExceeded,
  PriceUnknownError,
  REPLExecutionError,
  REPLSecurityError,
  RLMError,
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
  WorkerLostError,
} from "./errors.ts";
export type { BackendFault, FileReason } from "./errors.ts";
export type { ExecutionEvent, SessionEvent } from "./protocol/events.ts";
export type {
  Cut,
  ExecutionError,
  ExecutionResult,
  ExecutionStatus,
  HistoryEntry,
  InterruptReason,
  MimeBundle,
  OutputStream,
  StateAfter,
  Usage,
} from "./protocol/execution.ts";
export type { FileChange, FileEntry, FileKind, FileListing } from "./protocol/files.ts";
export type {
  LedgerAxis,
  LedgerLimits,
  RunEvent,
  RunResult,
  RunStatus,
  RunUsage,
  Spent,
  StopReason,
} from "./protocol/runs.ts";
export type { TaskEvent, TaskInfo, TaskKind, TaskResult, TaskStatus } from "./protocol/tasks.ts";
export type { ExecutionId, RunId, SessionId, TaskId } from "./protocol/ids.ts";
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
export type { LoadReport, SkippedVariable } from "./protocol/session-manifest.ts";
export type { Checkpoint, SessionInfo, StdlibFunction, StdlibListing, StdlibState } from "./protocol/sessions.ts";
