// rlm-runtime/client: the runtime of a server, for Node, browsers, Deno and Bun. Every public name, one by one.

// Connecting: the runtime of a server.
export { connectRuntime, type ConnectOptions } from "./connect.ts";
export type { WebSocketConstructor, WebSocketLike } from "./net/web-socket.ts";

// Data: as far as a client uses it.
export type { Runtime, OneOffOptions, RuntimeShellOptions } from "../api/runtime.ts";
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
} from "../api/session.ts";
export type {
  AnswerOptions,
  ExecuteOptions,
  Execution,
  Executions,
  InputHandler,
  InputRequest,
  OutputRange,
  OutputSlice,
} from "../api/execution.ts";
export type { OkResult, Result, ResultView } from "../api/result-view.ts";
export type {
  FileListOptions,
  FileOptions,
  FileRangeOptions,
  FileReadOptions,
  Files,
  FileWatch,
  FileWatchOptions,
} from "../api/files.ts";
export type { AnyTask, ShellOptions, Task, TaskListOptions, Tasks } from "../api/task.ts";
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
} from "../api/run.ts";
export type { AnswerData, AnswerSchema, JSONSchema, StandardSchema } from "../api/schema.ts";
export type { Page, PageOptions } from "../api/page.ts";
export type {
  AbortSignalLike,
  BlobLike,
  Content,
  Fetch,
  FetchLike,
  ReadableStreamLike,
  Signal,
  URLLike,
} from "../api/web-types.ts";
export type { RuntimeInfo } from "../protocol/api/about.ts";
export type { ExecutionEvent, SessionEvent } from "../protocol/events.ts";
export type { ExecutionResult, HistoryEntry, MimeBundle, OutputStream } from "../protocol/execution.ts";
export type { FileChange, FileEntry, FileListing } from "../protocol/files.ts";
export type { ExecutionId, RunId, SessionId, TaskId } from "../protocol/ids.ts";
export type { RunEvent } from "../protocol/run-events.ts";
export type {
  OutlineMark,
  OutlineNode,
  OutlineSpan,
  RunEventPage,
  RunMatch,
  RunOutline,
  RunSearchAnswer,
  StoredRunEvent,
} from "../protocol/run-outline/run-outline.ts";
export type { BlobReference, StoredText } from "../protocol/run-outline/stored-text.ts";
export type { RunInfo } from "../protocol/runs.ts";
export type { Checkpoint, SessionInfo, StdlibListing } from "../protocol/sessions.ts";
export type { TaskEvent, TaskInfo, TaskResult, TaskStatus } from "../protocol/tasks.ts";
export type {
  Completions,
  InspectedVariable,
  Signature,
  Variable,
  VariableList,
  VariableRows,
} from "../protocol/variables.ts";

// Errors: the classes of `rlm-runtime`.
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
  type BackendFault,
  type ErrorCode,
  type FileReason,
} from "../errors.ts";
