// The SDK: every public name, listed one by one. Interfaces and plain data; the classes behind them stay inside.

// The runtime: open one, then open sessions, run commands and ask questions.
export { openRuntime } from "./sdk/runtime.ts";
export { DEFAULT_LIMITS } from "./session/default-limits.ts";
export type { OneOffOptions, Runtime, RuntimeShellOptions } from "./api/runtime.ts";
export type {
  DockerOptions,
  Limits,
  LocalOneOffOptions,
  LocalRuntime,
  LocalRuntimeInfo,
  Mount,
  RuntimeOptions,
  WasmOptions,
} from "./api/local.ts";
export type { RuntimeInfo } from "./protocol/api/about.ts";
export type { Capabilities } from "./protocol/capabilities.ts";
export type { Page, PageOptions } from "./api/page.ts";

// Sessions: persistent Python interpreters.
export type {
  ForkOptions,
  GetOptions,
  InspectOptions,
  LookOptions,
  OperationOptions,
  RowsOptions,
  Session,
  SessionLimits,
  SessionListener,
  SessionOptions,
  Sessions,
  StandardLibrary,
  Subscription,
  VariablesOptions,
  VariableValue,
} from "./api/session.ts";
export type {
  LocalSession,
  LocalSessionOptions,
  LocalSessions,
  LocalStandardLibrary,
  LocalVariableValue,
} from "./api/local.ts";
export type { CallHandler, HostCall } from "./api/local.ts";
export type {
  Checkpoint,
  ForkOrigin,
  SessionInfo,
  StdlibFunction,
  StdlibListing,
  StdlibState,
} from "./protocol/sessions.ts";
export type { LoadReport, SaveReport, SkippedVariable } from "./protocol/session-manifest.ts";

// Variables: what an inspection and a completion return.
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
  VariableRows,
  VariableText,
} from "./protocol/variables.ts";

// Executions: one piece of code, its output and its result.
export type {
  AnswerOptions,
  ExecuteOptions,
  Execution,
  Executions,
  InputHandler,
  InputRequest,
  OutputRange,
  OutputSlice,
} from "./api/execution.ts";
export type { OkResult, Result, ResultView } from "./api/result-view.ts";
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

// Events: what happens in a session, in the order in which it happens.
export type {
  BackgroundDelta,
  CallEnd,
  CallStart,
  CheckpointAdd,
  CheckpointDrop,
  Display,
  DisplayPart,
  ExecutionEnd,
  ExecutionEvent,
  ExecutionQueue,
  ExecutionStart,
  InputEnd,
  InputStart,
  OutputDelta,
  OutputGap,
  ResetReason,
  SessionEnd,
  SessionEvent,
  SessionFork,
  SessionReset,
} from "./protocol/events.ts";

// Files: the working directory of a session.
export type {
  FileListOptions,
  FileOptions,
  FileRangeOptions,
  FileReadOptions,
  Files,
  FileWatch,
  FileWatchOptions,
} from "./api/files.ts";
export type { CopiedFile, LocalFiles } from "./api/local.ts";
export type { FileChange, FileEntry, FileKind, FileListing } from "./protocol/files.ts";

// Tasks: shell commands, and executions and runs that outlived their calls.
export type { AnyTask, FixedInput, ShellOptions, Task, TaskListOptions, Tasks } from "./api/task.ts";
export type { TaskEvent, TaskInfo, TaskKind, TaskResult, TaskState, TaskStatus } from "./protocol/tasks.ts";

// Recursive runs: a question, its context, its limits and its answer.
export type {
  Context,
  ContextFile,
  ContextValue,
  RLM,
  RLMLimits,
  RLMOptions,
  Run,
  RunEventPageOptions,
  RunFollowOptions,
  RunListOptions,
  RunRequest,
  RunResult,
  RunSearchOptions,
  Runs,
} from "./api/run.ts";
export type {
  DispatchOptions,
  HostFile,
  LocalContext,
  LocalContextValue,
  LocalRLM,
  LocalRLMOptions,
  LocalRunRequest,
} from "./api/local.ts";
export type { AnswerData, AnswerSchema, JSONSchema, StandardSchema } from "./api/schema.ts";
export type { LedgerAxis, LedgerLimits, RunInfo, RunStatus, RunUsage, StopReason } from "./protocol/runs.ts";
export type { ModelCallEnd, ModelCallStart, PrintedPart, RunEvent } from "./protocol/run-events.ts";
export type {
  OutlineMark,
  OutlineNode,
  OutlineSpan,
  RunEventPage,
  RunMatch,
  RunOutline,
  RunSearchAnswer,
  StoredRunEvent,
} from "./protocol/run-outline/run-outline.ts";
export type { BlobReference, StoredText } from "./protocol/run-outline/stored-text.ts";
export type { FinishReason, ModelUsage, ReportedUsage, TokenPrice } from "./protocol/usage.ts";

// Tools: host functions that code of a run may call.
export { defineTool, type Tool, type ToolContext, type ZodSchema } from "./tools/tool.ts";
export { executeCode, fileRead } from "./tools/builtins.ts";

// Strategies: how models are asked, and what they are shown.
export { strategies } from "./rlm/strategy/strategies.ts";
export type { HelperName, Strategy, StrategyChanges, StrategyName } from "./protocol/strategy/strategy.ts";
export type { StrategyPrompts } from "./protocol/strategy/strategy-prompts.ts";

// Models and backends: what answers a model call.
export type { BackendDefinition, ModelDefinition, ModelSettings } from "./api/models.ts";
export type {
  LanguageModel,
  LanguageModelCall,
  LanguageModelMessage,
  LanguageModelStream,
} from "./backends/providers/language-model.ts";
export type {
  Backend,
  BackendPart,
  BackendRequest,
  ChatMessage,
  HiddenReasoningPart,
  InputUsagePart,
  ModelFacts,
  ModelPrice,
  ResponseStartPart,
  ToolCallPart,
  StreamPart,
} from "./backends/backend.ts";
export type { Quota, RateLimits } from "./backends/rate-limits.ts";

// Errors: what a promise rejects with where something could not be done.
export {
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
  RLMError,
  RunNotFoundError,
  ServerConnectionError,
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
} from "./errors.ts";
export type { BackendFault, ErrorCode, FileReason } from "./errors.ts";

// Common types: ids, content, and what is used of the platform, so that no other library of types is needed.
export type { ExecutionId, RunId, SessionId, TaskId } from "./protocol/ids.ts";
export type { AbortSignalLike, BlobLike, Content, ReadableStreamLike, Signal } from "./api/web-types.ts";
