// The SDK: every public name, listed one by one.

// The runtime: open one, then open sessions, run commands and ask questions.
export { openRuntime, type Runtime } from "./runtime.ts";
export type { RuntimeOptions } from "./runtime-options.ts";
export { DEFAULT_LIMITS, type Limits } from "./session/options.ts";

// Environments: where sessions run, and what they can do there.
export type { Capabilities } from "./protocol/capabilities.ts";
export type { EnvironmentReport, Mount } from "./environments/environment.ts";
export type { EnvironmentName } from "./environments/registry.ts";

// Sessions.
export type { Session } from "./session/session.ts";
export type { Checkpoint, SessionInfo } from "./protocol/sessions.ts";
export type { OperationOptions, SessionOptions } from "./session/options.ts";
export type { SessionEvent } from "./protocol/events.ts";
export type { SessionId } from "./protocol/ids.ts";
export type { CallHandler, HostCall } from "./kernel/calls.ts";

// Executions: one piece of code, its output and its result.
export type { Execution } from "./session/execution/execution.ts";
export type { ExecuteOptions, OutputReceiver } from "./session/options.ts";
export type { InputHandler, InputRequest } from "./session/execution/input.ts";
export type { OutputRange, OutputSlice } from "./output/output-slice.ts";
export type { Result } from "./session/result.ts";
export type { ExecutionEvent } from "./protocol/events.ts";
export type { ExecutionId } from "./protocol/ids.ts";
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

// The namespace of a session: inspect it, set variables, save and load it.
export type { InspectOptions, LookOptions, VariablesOptions } from "./session/inspect/inspector-options.ts";
export type { SaveReport } from "./session/state/save-state.ts";
export type { VariableValue } from "./session/state/set-variable.ts";
export type { LoadReport, SkippedVariable } from "./protocol/session-manifest.ts";
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

// The standard library: functions that exist in every session.
export type { StandardLibrary } from "./session/state/stdlib.ts";
export type { StdlibFunction, StdlibListing, StdlibState } from "./protocol/sessions.ts";

// Files of a session.
export type { FileContent, FileOptions, FileRangeOptions, FileReadOptions, Files } from "./session/files/files.ts";
export type { FileWatch } from "./session/files/file-watch.ts";
export type { FileChange, FileEntry, FileKind, FileListing } from "./protocol/files.ts";

// Tasks: shell commands, and executions and runs that outlived their calls.
export type { Task, Tasks } from "./tasks/tasks.ts";
export type { ShellOptions } from "./tasks/shell-options.ts";
export type { ShellTask } from "./tasks/shell-task.ts";
export type { ExecutionTask } from "./tasks/execution-task.ts";
export type { RunTask } from "./tasks/run-task.ts";
export type { TaskEvent, TaskInfo, TaskKind, TaskResult, TaskStatus } from "./protocol/tasks.ts";
export type { TaskId } from "./protocol/ids.ts";

// Recursive runs: a question, its context, its limits and its answer.
export type { RLM, RLMLimits, RLMOptions, RunRequest } from "./rlm/rlm.ts";
export type { Context, ContextValue } from "./rlm/context/context-items.ts";
export type { Run } from "./rlm/run.ts";
export type { RunId } from "./protocol/ids.ts";
export type { LedgerAxis, LedgerLimits, RunResult, RunStatus, RunUsage, StopReason } from "./protocol/runs.ts";
export type { RunEvent } from "./protocol/run-events.ts";
export type { ModelUsage, ReportedUsage } from "./protocol/usage.ts";

// Tools that code of a run may call.
export { defineTool, type Tool, type ToolContext } from "./tools/tool.ts";
export { executeCode, fileRead } from "./tools/builtins.ts";

// Backends: what answers a model call.
export { ScriptedBackend } from "./backends/scripted/scripted.ts";
export type { LanguageModel } from "./backends/providers/language-model.ts";
export type { Backend, BackendPart, BackendRequest, ChatMessage, ModelPrice } from "./backends/backend.ts";

// Errors.
export {
  BackendConnectionError,
  CapabilityMissingError,
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
