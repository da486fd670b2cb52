// Puts the pieces together: environments below, sessions above. The only place that knows them all.

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { EnvironmentReport, Mount, SandboxOptions } from "./environments/environment.ts";
import { CLOSED, LocalEnvironment } from "./environments/local/local.ts";
import { EnvironmentUnavailableError, REPLSecurityError, SessionStateError } from "./errors.ts";
import type { OutputBounds } from "./output/output-log.ts";
import { SpillFiles } from "./output/spill-file.ts";
import type { ExecutionResult } from "./protocol/execution.ts";
import { parseSessionId, type RunId, type SessionId, type TaskId } from "./protocol/ids.ts";
import { RLM, type RLMOptions, type RLMPorts } from "./rlm/rlm.ts";
import { Runs } from "./rlm/live-runs.ts";
import { checkEnvironment, type ExecuteOptions } from "./session/options.ts";
import { Kernels } from "./session/kernels/kernels.ts";
import { checkLimits, DEFAULT_LIMITS, withDefaults, type Limits } from "./session/limits.ts";
import type { Session, SessionNames, SessionSettings } from "./session/session.ts";
import type { SessionOptions } from "./session/session-options.ts";
import { Sessions } from "./session/sessions.ts";
import { StandardLibrary } from "./session/state/stdlib.ts";
import type { Restoring } from "./session/state/state-operations.ts";
import type { OperationOptions } from "./session/kernels/interruptible.ts";
import { checkCommand, DEFAULT_SESSION, type ShellOptions } from "./tasks/shell-options.ts";
import type { ShellTask } from "./tasks/shell-task.ts";
import { Tasks } from "./tasks/tasks.ts";
import { CallCache } from "./store/call-cache.ts";
import { RunLogWriter } from "./store/runs/run-log.ts";
import { pruneRuns } from "./store/runs/recorded-runs.ts";
import { SessionFile, SessionFileWriter } from "./store/session-file.ts";
import { StdlibFile } from "./store/stdlib-file.ts";
import { checkCount, checkDuration } from "./util/check-number.ts";
import { dataFolder, dataPath } from "./util/data-folder.ts";
import { idMaker, randomId, type IdStyle } from "./util/make-id.ts";

export type { EnvironmentReport, Mount } from "./environments/environment.ts";
export { parseMount, resolveMounts } from "./environments/local/mounts.ts";
export type { CallHandler, HostCall } from "./kernel/calls.ts";
export type { InputHandler, InputRequest } from "./session/execution/input.ts";
export type { ExecuteOptions } from "./session/options.ts";
export type { Checkpoint } from "./session/kernels/checkpoints.ts";
export type { Execution } from "./session/execution/execution.ts";
export type { FileContent, FileOptions, FileRangeOptions, FileReadOptions, Files } from "./session/files/files.ts";
export type { FileWatch } from "./session/files/file-watch.ts";
export type { HistoryEntry } from "./session/execution/history.ts";
export type { Result } from "./session/result.ts";
export type { InspectOptions, LookOptions, VariablesOptions } from "./session/inspect/inspector-options.ts";
export type { LoadReport, SaveReport } from "./session/state/save-state.ts";
export { DEFAULT_LIMITS, type Limits } from "./session/limits.ts";
export type { SessionOptions } from "./session/session-options.ts";
export type { OutputRange, OutputSlice } from "./output/output-slice.ts";
export type { Session, SessionInfo } from "./session/session.ts";
export { isSessionFile } from "./store/session-file.ts";
export type { VariableValue } from "./session/state/set-variable.ts";
export type { StandardLibrary, StdlibFunction, StdlibListing } from "./session/state/stdlib.ts";
export type { StdlibState } from "./session/kernels/stdlib-loader.ts";
export type { OperationOptions } from "./session/kernels/interruptible.ts";
export type { Backend, BackendPart, BackendRequest, ChatMessage, ModelPrice, TokenUsage } from "./backends/backend.ts";
export { baseUrlOf, checkBackend } from "./backends/open-backend.ts";
export type { LanguageModel } from "./backends/providers/language-model.ts";
export { ScriptedBackend } from "./backends/scripted/scripted.ts";
export type { Context, ContextValue } from "./rlm/context/context-items.ts";
export type { RLM, RLMLimits, RLMOptions, RunRequest } from "./rlm/rlm.ts";
export type { Run } from "./rlm/run.ts";
export { executeCode, fileRead } from "./tools/builtins.ts";
export { defineTool, type Tool, type ToolContext } from "./tools/tool.ts";
export type { ShellOptions } from "./tasks/shell-options.ts";
export type { ExecutionTask } from "./tasks/execution-task.ts";
export type { RunTask } from "./tasks/run-task.ts";
export type { ShellTask } from "./tasks/shell-task.ts";
export type { Task, Tasks } from "./tasks/tasks.ts";

export { findRun, listRuns } from "./store/runs/recorded-runs.ts";
export { readRun, type RecordedRun } from "./store/runs/run-log-reader.ts";
export type { RecordedEvent } from "./store/runs/event-decoder.ts";
export type { RunSummary } from "./store/runs/run-folder.ts";

const DEFAULT_TIMEOUT_MS = 55_000;
const DEFAULT_IDLE_TIMEOUT_MS = 5 * 60_000;
const GRACE_MS = 2_000;
const DEFAULT_POOL_SIZE = 3;
/** Recorded runs after which old ones are removed. */
const PRUNE_EVERY = 50;
const DEFAULT_AUTO_CHECKPOINTS = 10;
const FINISHED_TASKS = { finished: 1000, finishedBytes: 128 * 1024 * 1024, keptMs: 3_600_000 };
/** What model-written code imports most: the import then costs nothing, and its memory is shared by all sessions. */
const DEFAULT_PRELOAD = (
  "asyncio collections csv dataclasses datetime decimal functools hashlib itertools json math pathlib random re shutil " +
  "statistics string subprocess tempfile textwrap typing urllib.parse uuid numpy pandas"
).split(" ");

export interface RuntimeOptions {
  /** Where sessions run unless they say otherwise. Only `local` exists so far. */
  readonly environment?: "local";
  /** An interpreter, the folder of a virtual environment, or a command name. Default: RLM_PYTHON, else `python3`. */
  readonly python?: string;
  /** Modules that sessions import at no cost; absent ones are left out. Default: the usual ones, numpy and pandas. */
  readonly preload?: readonly string[];
  /** Sandboxes that wait ready for the next session. Default 3; 0 starts nothing before the first session. */
  readonly poolSize?: number;
  /** Each one replaces a default. */
  readonly limits?: Partial<Limits>;
  /** Folders of the host that every session sees. Default: none. */
  readonly mounts?: readonly Mount[];
  /** For executions that name none. Null: no limit. Default: 55 s. */
  readonly timeoutMs?: number | null;
  /** For sessions that name none. Null: never. Default: 5 minutes. */
  readonly idleTimeoutMs?: number | null;
  /** What generated ids look like: `short` (`s1`, `t1`), or `random`, where others could guess them. Default: short. */
  readonly ids?: IdStyle;
}

/** Nothing is started until the first session is opened, unless `poolSize` asks for waiting sandboxes. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  checkEnvironmentName(options.environment);
  checkLimits(options.limits);
  checkCount("poolSize", options.poolSize, 0);
  checkDuration("timeoutMs", options.timeoutMs);
  checkDuration("idleTimeoutMs", options.idleTimeoutMs);
  return new Runtime(options);
}

export class Runtime implements AsyncDisposable {
  readonly sessions: Sessions;
  /** Shell commands, executions that outlived their calls, and runs. */
  readonly tasks: Tasks;
  readonly limits: Limits;
  readonly #options: RuntimeOptions;
  readonly #files = new SpillFiles();
  readonly #environments = new Map<string, LocalEnvironment>();
  readonly #stdlibFile = new StdlibFile(dataPath("stdlib.py"));
  /** Functions that are there in every session opened later. */
  readonly stdlib: StandardLibrary;
  /** Those that go on, and the last ones that ended. */
  readonly runs = new Runs();
  readonly #logs = new Map<RunId, RunLogWriter>();
  #recorded = 0;
  readonly #obtaining = new Map<string, Promise<Session>>();
  #closing: Promise<void> | undefined;

  /** Use `openRuntime`. */
  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.limits = withDefaults(DEFAULT_LIMITS, options.limits);
    const { ids = "short" } = options;
    this.sessions = new Sessions(this.limits.sessions, this.limits.totalMemoryBytes, ids);
    const taskBounds = { running: this.limits.tasks, ...FINISHED_TASKS, output: this.#outputBounds };
    this.tasks = new Tasks(taskBounds, idMaker("t", ids) as () => TaskId);
    this.stdlib = new StandardLibrary(this.#stdlibFile, () => this.#openKernels());
  }

  /** Throws EnvironmentUnavailableError, SessionExistsError, LimitExceededError or REPLSecurityError; nothing remains then. */
  openSession(options: SessionOptions = {}): Promise<Session> {
    return this.#open(options);
  }

  /** The live session with this id, or a new one with these options. */
  async obtainSession(id: string, options: Omit<SessionOptions, "id"> = {}): Promise<Session> {
    const live = this.sessions.find(id);
    if (live !== undefined) return live;
    let obtaining = this.#obtaining.get(id);
    if (obtaining === undefined) {
      obtaining = this.#open({ ...options, id }).finally(() => this.#obtaining.delete(id));
      this.#obtaining.set(id, obtaining);
    }
    return obtaining;
  }

  /**
   * Starts a command for bash in the working directory of a session, once, and returns at once. Throws
   * SessionNotFoundError, LimitExceededError, or a TypeError or RangeError for what can never run.
   */
  shell(command: string, options: ShellOptions & { readonly session?: Session | string } = {}): ShellTask {
    checkCommand(command, options);
    if (options.env !== undefined) checkEnvironment(options.env);
    if (!this.#isOpen()) throw new EnvironmentUnavailableError(CLOSED);
    options.signal?.throwIfAborted();
    const { session = DEFAULT_SESSION, cwd, env = {}, timeoutMs = null, stdin = "none", signal } = options;
    const known = this.#known(session);
    return this.tasks.shell({
      command,
      sessionId: known?.id ?? parseSessionId(session),
      cwd,
      env,
      timeoutMs: timeoutMs === Infinity ? null : timeoutMs,
      stdin,
      signal,
      bounds: this.#outputBounds,
      enter: async (task) => (known ?? (await this.obtainSession(DEFAULT_SESSION))).tasks.enter(task),
    });
  }

  /** Undefined: the default session, which may have to be opened first. */
  #known(session: Session | string): Session | undefined {
    if (typeof session !== "string") return session;
    if (session !== DEFAULT_SESSION) return this.sessions.get(session);
    return this.sessions.find(DEFAULT_SESSION);
  }

  /**
   * A session with the state that a session file has; `session.loaded` says what came out of it. Throws
   * REPLSecurityError for a file that is damaged or none of ours, SessionStateError for one that cannot be used here.
   */
  async loadSession(path: string, options: SessionOptions & OperationOptions = {}): Promise<Session> {
    if (typeof path !== "string") throw new TypeError(`Cannot load a ${typeof path}: give a path`);
    const { timeoutMs, signal, ...sessionOptions } = options;
    const reader = await SessionFile.open(path).catch((error: Error) => {
      if (error instanceof REPLSecurityError) throw error;
      throw new SessionStateError({ action: `load '${path}'`, sessionId: null, why: error.message }, { cause: error });
    });
    try {
      return await this.#open(sessionOptions, { reader, timeoutMs, signal } as Restoring);
    } finally {
      await reader.close();
    }
  }

  async #open(options: SessionOptions, restoring?: Restoring): Promise<Session> {
    checkEnvironmentName(options.environment);
    checkLimits(options.limits);
    checkDuration("idleTimeoutMs", options.idleTimeoutMs);
    if (options.env !== undefined) checkEnvironment(options.env);
    if (!this.#isOpen()) throw new EnvironmentUnavailableError(CLOSED);
    const session = await this.sessions.open(options.id, this.#settings(options), restoring);
    if (this.#isOpen()) return session;
    await session.discard();
    throw new EnvironmentUnavailableError(CLOSED);
  }

  #settings(options: SessionOptions): Omit<SessionSettings, keyof SessionNames> {
    return {
      environment: this.#environment(options.python),
      sandboxOptions: this.#sandboxOptions(options),
      env: options.env ?? {},
      cwd: options.cwd,
      argv: options.argv,
      readStdlib: options.includeStdlib === false ? undefined : () => this.#stdlibFile.read(),
      onCall: options.onCall ?? refuseCall,
      output: this.#outputBounds,
      defaultTimeoutMs: firstGiven(this.#options.timeoutMs, DEFAULT_TIMEOUT_MS),
      idleTimeoutMs: firstGiven(
        options.idleTimeoutMs,
        firstGiven(this.#options.idleTimeoutMs, DEFAULT_IDLE_TIMEOUT_MS),
      ),
      graceMs: GRACE_MS,
      maxWaiting: this.limits.waiting,
      autoCheckpoints: toCount(options.autoCheckpoint ?? false),
      openStateWriter: (path) => new SessionFileWriter(path),
    };
  }

  get #outputBounds(): OutputBounds {
    const { keptOutputBytes: keptBytes, readableOutputBytes: readableBytes } = this.limits;
    return { keptBytes, readableBytes, files: this.#files };
  }

  /** Sets up recursive runs: throws a TypeError or RangeError for options that can never work. Nothing is asked or opened yet. */
  rlm(options: RLMOptions & { readonly log?: boolean }): RLM {
    const { log = true, ...own } = options;
    if (!this.#isOpen()) throw new EnvironmentUnavailableError(CLOSED);
    const ports: RLMPorts = {
      openSession: (onCall) => this.openSession({ onCall, idleTimeoutMs: null, includeStdlib: false }),
      cache: new CallCache(dataFolder("model-cache")),
      makeRunId: () => randomId("r") as RunId,
      onRun: (run, ...told) => this.runs.add(run, log ? this.#record(run, ...told) : undefined),
      journal: (runId, event) => this.#logs.get(runId)?.write(event),
    };
    return new RLM(own, ports);
  }

  async #record(...[run, context, secrets]: Parameters<RLMPorts["onRun"]>): Promise<void> {
    const writer = new RunLogWriter(run.id, { secrets });
    this.#logs.set(run.id, writer);
    // It looks at every log that there is. One that cannot be removed is no reason not to run.
    if (this.#recorded % PRUNE_EVERY === 0) void pruneRuns().catch(() => {});
    this.#recorded += 1;
    for (const { name, value } of context) {
      if (Array.isArray(value)) continue;
      if ("text" in value) await writer.recordContext(name, { bytes: Buffer.from(value.text) });
      else if ("file" in value) await writer.recordContext(name, { path: value.file });
    }
    await run.result.catch(() => {});
    await writer.close();
    this.#logs.delete(run.id);
  }

  /** One-off: a session that lives for this call. */
  async execute(code: string, options: ExecuteOptions & SessionOptions = {}): Promise<ExecutionResult> {
    const { timeoutMs, fileName, signal, onInput, ...sessionOptions } = options;
    const session = await this.openSession(sessionOptions);
    try {
      const own = { timeoutMs, fileName, signal, onInput } as ExecuteOptions;
      return await session.execute(code, own).result;
    } finally {
      void session.discard();
    }
  }

  /** Starts what the first session would start, and fills the pool. */
  async warm(): Promise<void> {
    await this.#environment(undefined).warm();
  }

  /** What is known of the environment that sessions use by default. */
  report(): EnvironmentReport {
    return this.#environment(undefined).report();
  }

  /** Ends every session and every process. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A sandbox that is no session: nothing of a standard library is in it. */
  #openKernels(): Promise<Kernels> {
    if (!this.#isOpen()) throw new EnvironmentUnavailableError(CLOSED);
    const settings = { ...this.#settings({ includeStdlib: false }), id: "stdlib" as SessionId };
    return Kernels.open(settings, { onBackground: () => {}, onEnd: () => {} });
  }

  #isOpen(): boolean {
    return this.#closing === undefined;
  }

  async #close(): Promise<void> {
    await this.runs.cancelAll();
    this.tasks.foretellEnd("the runtime was closed");
    await this.sessions.closeAll("the runtime was closed");
    await Promise.all([...this.#environments.values()].map((environment) => environment.close()));
    this.tasks.close();
    this.#files.close();
  }

  #environment(python: string | undefined): LocalEnvironment {
    const wanted = python ?? this.#options.python ?? process.env["RLM_PYTHON"];
    const key = wanted ?? "";
    let environment = this.#environments.get(key);
    if (environment === undefined) {
      environment = new LocalEnvironment({
        python: wanted,
        preload: this.#options.preload ?? DEFAULT_PRELOAD,
        poolSize: this.#options.poolSize ?? DEFAULT_POOL_SIZE,
        poolOptions: this.#sandboxOptions({}),
        cacheFolder: dataFolder("python-cache"),
      });
      environment.onLessMemory = () => void this.sessions.memory.look();
      this.#environments.set(key, environment);
    }
    return environment;
  }

  #sandboxOptions({ mounts = [], limits = {} }: SessionOptions): SandboxOptions {
    const { memoryBytes, diskBytes, processes, openFiles, branches } = withDefaults(this.limits, limits);
    return {
      mounts: [...(this.#options.mounts ?? []), ...mounts].map(({ path, mode }) => ({ path: realPath(path), mode })),
      limits: { memoryBytes, diskBytes, processes, openFiles, branches },
    };
  }
}

/** Null is a value here: no limit, as is Infinity. */
function firstGiven(value: number | null | undefined, otherwise: number | null): number | null {
  if (value === undefined) return otherwise;
  return value === Infinity ? null : value;
}

function toCount(autoCheckpoint: boolean | number): number {
  if (typeof autoCheckpoint !== "boolean") checkCount("autoCheckpoint", autoCheckpoint, 0);
  return typeof autoCheckpoint === "number" ? autoCheckpoint : autoCheckpoint ? DEFAULT_AUTO_CHECKPOINTS : 0;
}

function realPath(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch {
    return resolve(path); // refused later, with the reason
  }
}

function checkEnvironmentName(name: string | undefined): void {
  if (name === undefined || name === "local") return;
  throw new EnvironmentUnavailableError({
    environment: name,
    why: ["docker", "wasm"].includes(name) ? "this version does not have it yet" : "there is no such environment",
    fix: "Use 'local'",
  });
}

async function refuseCall({ name }: { readonly name: string }): Promise<never> {
  throw new Error(`No call named '${name}' is answered in this session`);
}
