// The options of every call that both implementations have, so that a misspelt one is refused and not ignored.

import { optionNames } from "./check-options.ts";
import type { AnswerOptions, ExecuteOptions, OutputRange } from "../execution.ts";
import type { FileListOptions, FileOptions, FileRangeOptions, FileReadOptions, FileWatchOptions } from "../files.ts";
import type { PageOptions } from "../page.ts";
import type {
  RLMLimits,
  RLMOptions,
  RunEventPageOptions,
  RunFollowOptions,
  RunListOptions,
  RunRequest,
  RunSearchOptions,
} from "../run.ts";
import type { OneOffOptions, RuntimeShellOptions } from "../runtime.ts";
import type {
  ForkOptions,
  GetOptions,
  InspectOptions,
  LookOptions,
  OperationOptions,
  RowsOptions,
  SessionLimits,
  SessionOptions,
  VariablesOptions,
} from "../session.ts";
import type { ShellOptions, TaskListOptions } from "../task.ts";

const execute = { id: true, timeoutMs: true, env: true, fileName: true, signal: true, onInput: true } as const;
const session = {
  environment: true,
  env: true,
  cwd: true,
  argv: true,
  limits: true,
  idleTimeoutMs: true,
  autoCheckpoint: true,
  includeStdlib: true,
} as const;
const { idleTimeoutMs: _idle, autoCheckpoint: _undo, ...oneOff } = session;
const shell = { id: true, cwd: true, env: true, timeoutMs: true, stdin: true, signal: true } as const;
const page = { limit: true, after: true } as const;
const fileRange = { signal: true, offset: true, length: true } as const;
const operation = { timeoutMs: true, signal: true } as const;
const rlm = {
  model: true,
  subModel: true,
  childModel: true,
  extractModel: true,
  temperature: true,
  seed: true,
  limits: true,
  mode: true,
  onLimit: true,
} as const;

/** By the call that takes them. */
export const OPTIONS = {
  session: optionNames<SessionOptions>({ id: true, ...session }),
  sessionLimits: optionNames<SessionLimits>({
    memoryBytes: true,
    diskBytes: true,
    processes: true,
    openFiles: true,
    branches: true,
  }),
  execute: optionNames<ExecuteOptions>(execute),
  oneOff: optionNames<OneOffOptions>({ ...execute, ...oneOff }),
  shell: optionNames<ShellOptions>(shell),
  runtimeShell: optionNames<RuntimeShellOptions>({ ...shell, session: true }),
  answer: optionNames<AnswerOptions>({ call: true }),
  output: optionNames<OutputRange>({ stream: true, offset: true, length: true }),
  operation: optionNames<OperationOptions>(operation),
  get: optionNames<GetOptions>({ ...operation, as: true, maxBytes: true }),
  variables: optionNames<VariablesOptions>({ all: true }),
  look: optionNames<LookOptions>({ timeoutMs: true }),
  inspect: optionNames<InspectOptions>({ timeoutMs: true, maxCharacters: true }),
  rows: optionNames<RowsOptions>({
    timeoutMs: true,
    start: true,
    count: true,
    columnStart: true,
    columnCount: true,
    sortBy: true,
    descending: true,
  }),
  fork: optionNames<ForkOptions>({ id: true }),
  page: optionNames<PageOptions>(page),
  taskList: optionNames<TaskListOptions>({ ...page, status: true, sessionId: true }),
  file: optionNames<FileOptions>({ signal: true }),
  fileRange: optionNames<FileRangeOptions>(fileRange),
  fileRead: optionNames<FileReadOptions>({ ...fileRange, maxBytes: true }),
  fileList: optionNames<FileListOptions>({ signal: true, depth: true }),
  fileWatch: optionNames<FileWatchOptions>({ signal: true, recursive: true }),
  rlm: optionNames<RLMOptions>(rlm),
  rlmLimits: optionNames<RLMLimits>({
    maxDepth: true,
    maxIterations: true,
    tokens: true,
    costUsd: true,
    llmCalls: true,
    toolCalls: true,
    wallMs: true,
    iterations: true,
  }),
  runList: optionNames<RunListOptions>({ ...page, status: true, text: true }),
  runEventPage: optionNames<RunEventPageOptions>({ ...page, nodeId: true, step: true }),
  runSearch: optionNames<RunSearchOptions>({ ...page, signal: true }),
  runFollow: optionNames<RunFollowOptions>({ after: true, signal: true }),
  run: optionNames<RunRequest>({ ...rlm, id: true, query: true, context: true, schema: true, signal: true }),
} as const;
