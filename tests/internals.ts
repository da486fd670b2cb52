// The classes behind the SDK, for tests of them. What users get is src/index.ts.

// The runtime: open one, then open sessions, run commands and ask questions.
export { openRuntime, type Runtime } from "../src/runtime.ts";
export type { RuntimeOptions } from "../src/runtime-options.ts";

export type { Mount } from "../src/api/local.ts";

// Sessions.
export type { Session } from "../src/session/session.ts";

export type { SessionOptions } from "../src/session/options.ts";
export type { SessionEvent } from "../src/protocol/events.ts";

// Executions: one piece of code, its output and its result.
export type { Execution } from "../src/session/execution/execution.ts";
export type { ExecuteOptions, OutputReceiver } from "../src/session/options.ts";
export type { InputRequest } from "../src/session/execution/input.ts";

export type { Result } from "../src/api/result-view.ts";
export type { ExecutionEvent } from "../src/protocol/events.ts";

export type { ExecutionResult, MimeBundle, OutputStream } from "../src/protocol/execution.ts";

export type { VariableValue } from "../src/session/state/set-variable.ts";

export type { Completions } from "../src/protocol/variables.ts";

export type { FileWatch } from "../src/session/files/file-watch.ts";
export type { FileChange } from "../src/protocol/files.ts";

export type { ShellTask } from "../src/tasks/shell-task.ts";

export type { TaskEvent } from "../src/protocol/tasks.ts";

// Recursive runs: a question, its context, its limits and its answer.
export type { RLM, RLMOptions, RunRequest } from "../src/rlm/rlm.ts";

export type { RunEvent } from "../src/protocol/run-events.ts";

// Tools that code of a run may call.
export { defineTool, type Tool } from "../src/tools/tool.ts";
export { executeCode } from "../src/tools/builtins.ts";

// Backends: what answers a model call.
export { ScriptedBackend } from "../src/backends/scripted/scripted.ts";
export type { LanguageModel } from "../src/backends/providers/language-model.ts";

// Errors.
export {
  EnvironmentUnavailableError,
  FileError,
  InspectionError,
  LimitExceededError,
  REPLExecutionError,
  REPLSecurityError,
  SessionBusyError,
  SessionClosedError,
  SessionExistsError,
  SessionNotFoundError,
  TaskNotFoundError,
  TaskStateError,
  WorkerLostError,
} from "../src/errors.ts";
