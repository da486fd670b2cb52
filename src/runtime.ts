// Puts the pieces together: environments below, sessions, tasks and runs above. The only file that knows them all.

import { checkCommand } from "./api/checks/check-shell.ts";
import { requireCapability } from "./environments/capabilities.ts";
import type { Environment, EnvironmentReport, ProcessEvent } from "./environments/environment.ts";
import { Environments } from "./environments/environments.ts";
import { EnvironmentUnavailableError, REPLSecurityError, SessionStateError } from "./errors.ts";
import type { OutputLimits } from "./output/output-log.ts";
import { SpillFiles } from "./output/spill-file.ts";
import type { ExecutionResult } from "./protocol/execution.ts";
import { parseSessionId, type RunId, type SessionId, type TaskId } from "./protocol/ids.ts";
import { RLM, type RLMOptions } from "./rlm/rlm.ts";
import { LiveRuns } from "./rlm/live-runs.ts";
import {
  checkSessionOptions,
  toEnvironmentOptions,
  toRuntimeSettings,
  toSessionSettings,
  type RuntimeOptions,
  type RuntimeSettings,
} from "./runtime-options.ts";
import { Kernels } from "./session/kernels/kernels.ts";
import { checkEnvironment } from "./session/options.ts";
import type { Limits } from "./api/local.ts";
import type { ExecuteOptions, OperationOptions, SessionOptions } from "./session/options.ts";
import type { Session, SessionNames, SessionSettings } from "./session/session.ts";
import { Sessions } from "./session/sessions.ts";
import { StandardLibrary } from "./session/state/stdlib.ts";
import type { Restoring } from "./session/state/state-operations.ts";
import { CallCache } from "./store/call-cache.ts";
import { IndexedRuns } from "./store/runs/indexed/indexed-runs.ts";
import { isRecorded } from "./store/runs/recorded-runs.ts";
import { RunRecorder } from "./store/runs/run-recorder.ts";
import { SessionFile } from "./store/session-file.ts";
import { StdlibFile } from "./store/stdlib-file.ts";
import { DEFAULT_SESSION, type ShellOptions } from "./tasks/shell-options.ts";
import type { ShellTask } from "./tasks/shell-task.ts";
import { Tasks } from "./tasks/tasks.ts";
import { ActiveWork } from "./util/async/active-work.ts";
import { Semaphore } from "./util/async/semaphore.ts";
import { dataFolder } from "./util/data-folder.ts";
import { describeReadProblem } from "./util/files/file-problem.ts";
import { idMaker, randomId } from "./util/make-id.ts";

const FINISHED_TASKS = { finished: 1000, finishedBytes: 128 * 1024 * 1024, keptMs: 3_600_000 };
/** Each may hold the longest line of a log. */
const MAX_SEARCHES = 4;
const CLOSED = "the runtime was closed";

/** Starts nothing: the first session does, or `runtime.warm()`. Throws EnvironmentUnavailableError for an unknown environment. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const settings = toRuntimeSettings(options);
  const { limits, ids, environment } = settings;
  const sessions = new Sessions(limits.sessions, limits.totalMemoryBytes, ids);
  const listeners = {
    onLessMemory: (): void => void sessions.memory.check(),
    onProcess: (event: ProcessEvent): void => runtime.onProcess(event),
  };
  const environments = await Environments.load(environment, toEnvironmentOptions(settings, listeners));
  const runtime = new Runtime(settings, sessions, environments);
  return runtime;
}

export class Runtime implements AsyncDisposable {
  readonly limits: Limits;
  readonly sessions: Sessions;
  /** Shell commands, executions that outlived their calls, and runs. */
  readonly tasks: Tasks;
  /** Live runs, and the last ones that ended. */
  readonly runs: LiveRuns;
  /** Recorded runs that were looked at. */
  readonly indexedRuns = new IndexedRuns();
  /** For searches in recorded runs. Waiting for one takes little memory, and the server limits its requests. */
  readonly searches = new Semaphore(MAX_SEARCHES, Infinity);
  /** Functions that exist in every session opened later. */
  readonly stdlib: StandardLibrary;
  /** Called when a process of an environment has started or ended. */
  onProcess: (event: ProcessEvent) => void = () => {};
  readonly #settings: RuntimeSettings;
  readonly #environments: Environments;
  /** Keeps the process alive while something is done; idle sessions and the pool do not. */
  readonly #activeWork = new ActiveWork();
  readonly #recorder = new RunRecorder();
  readonly #stdlibFile: StdlibFile;
  readonly #spillFiles: SpillFiles;
  readonly #output: OutputLimits;
  /** Created with the first run, as is its folder. */
  #callCache: CallCache | undefined;
  #isUnavailable = false;
  #closing: Promise<void> | undefined;

  /** Use `openRuntime`. */
  constructor(settings: RuntimeSettings, sessions: Sessions, environments: Environments) {
    this.#settings = settings;
    this.#environments = environments;
    this.limits = settings.limits;
    this.sessions = sessions;
    const { keptOutputBytes: keptBytes, readableOutputBytes: readableBytes, tasks: running } = this.limits;
    this.#spillFiles = new SpillFiles({ maxBytes: this.limits.totalOutputBytes });
    this.#output = { keptBytes, readableBytes, files: this.#spillFiles };
    const makeTaskId = idMaker("t", settings.ids) as () => TaskId;
    this.tasks = new Tasks({ running, ...FINISHED_TASKS, output: this.#output }, makeTaskId, this.#activeWork);
    this.runs = new LiveRuns(this.#activeWork);
    this.#stdlibFile = new StdlibFile(settings.stdlibPath);
    this.stdlib = new StandardLibrary(this.#stdlibFile, () => this.#openKernels(), this.#activeWork);
  }

  /** Throws EnvironmentUnavailableError, SessionExistsError, LimitExceededError or REPLSecurityError; nothing remains then. */
  openSession(options: SessionOptions = {}): Promise<Session> {
    return this.#activeWork.during(() => this.#openSession(options));
  }

  /** The live session with this id, or a new one with these options. */
  async obtainSession(id: string, options: Omit<SessionOptions, "id"> = {}): Promise<Session> {
    return this.sessions.obtain(id, () => this.openSession({ ...options, id }));
  }

  /**
   * Opens a session with the state of a session file; `session.loaded` says what was loaded. Throws REPLSecurityError for
   * a file that is damaged or not a session file, SessionStateError for one that cannot be used here.
   */
  async loadSession(path: string, options: SessionOptions & OperationOptions = {}): Promise<Session> {
    if (typeof path !== "string") throw new TypeError(`Cannot load a ${typeof path}: give a path`);
    const { timeoutMs, signal, ...sessionOptions } = options;
    const reader = await SessionFile.open(path).catch((error: Error) => {
      if (error instanceof REPLSecurityError) throw error;
      const why = describeReadProblem(error);
      throw new SessionStateError({ action: `load '${path}'`, sessionId: null, why }, { cause: error });
    });
    try {
      const restoring = { reader, timeoutMs, signal } as Restoring;
      return await this.#activeWork.during(() => this.#openSession(sessionOptions, restoring));
    } finally {
      await reader.close();
    }
  }

  /** One-off: a session that lives for this call. */
  async execute(code: string, options: ExecuteOptions & Omit<SessionOptions, "id"> = {}): Promise<ExecutionResult> {
    const { id, timeoutMs, fileName, signal, onInput, receiver, ...sessionOptions } = options;
    const session = await this.openSession(sessionOptions);
    try {
      const own = { id, timeoutMs, fileName, signal, onInput, receiver } as ExecuteOptions;
      return await session.execute(code, own).result;
    } finally {
      void session.discard();
    }
  }

  /**
   * Starts a bash command, once, in the working directory of a session, and returns at once. Throws SessionNotFoundError, SessionClosedError,
   * IdReusedError, LimitExceededError, CapabilityMissingError, or a TypeError or RangeError for what can never run.
   */
  shell(command: string, options: ShellOptions & { readonly session?: Session | string } = {}): ShellTask {
    checkCommand(command, options);
    if (options.env !== undefined) checkEnvironment(options.env);
    this.#checkOpen();
    options.signal?.throwIfAborted();
    const { id, session = DEFAULT_SESSION, cwd, env = {}, timeoutMs: limitMs = null, stdin = "none", signal } = options;
    const sessionId = typeof session === "string" ? parseSessionId(session) : session.id;
    const timeoutMs = limitMs === Infinity ? null : limitMs;
    const request = { command, sessionId, cwd, env, timeoutMs, stdin };
    // Its session may have ended since.
    const known = id === undefined ? undefined : this.tasks.started(id, request);
    if (known !== undefined) return known;
    const live = this.#find(session);
    live?.checkOpen();
    requireCapability(live?.tasks.environment ?? this.#environments.default, "shell", "run a shell command");
    return this.tasks.shell({
      ...request,
      id: id as TaskId | undefined,
      signal,
      outputLimits: this.#output,
      lease: async (task) => (live ?? (await this.obtainSession(DEFAULT_SESSION))).tasks.lease(task),
    });
  }

  /** Sets up recursive runs. Throws a TypeError or RangeError for options that can never work. Starts nothing. */
  rlm(options: RLMOptions & { readonly log?: boolean }): RLM {
    const { log = true, ...own } = options;
    this.#checkOpen();
    this.#callCache ??= new CallCache(dataFolder("model-cache"));
    return new RLM(own, {
      openSession: (onCall) => this.openSession({ onCall, idleTimeoutMs: null, includeStdlib: false }),
      cache: this.#callCache,
      makeRunId: () => randomId("r") as RunId,
      findRun: (id) => this.runs.get(id) ?? (log && isRecorded(id) ? "recorded" : undefined),
      onRun: (run, ...details) => this.runs.add(run, log ? this.#recorder.record(run, ...details) : undefined),
      onEvent: (runId, event) => this.#recorder.write(runId, event),
    });
  }

  /** Starts what the first session would start, and fills the pool. */
  async warm(): Promise<void> {
    await this.#activeWork.during(() => this.#environments.default.warm());
  }

  /** What is known about the environment that sessions use by default. */
  report(): EnvironmentReport {
    return this.#environments.default.report();
  }

  /** Whether a session could not be opened because of this machine: no sandbox, or no Python. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Ends every session and every process. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#activeWork.during(() => this.#close());
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #openSession(options: SessionOptions, restoring?: Restoring): Promise<Session> {
    checkSessionOptions(options);
    this.#checkOpen();
    const environment = await this.#environments.obtain(options.environment, options.python);
    this.#checkOpen();
    const opening = this.sessions.open(options.id, this.#toSettings(options, environment), restoring);
    const session = await opening.catch((error: unknown) => {
      if (error instanceof EnvironmentUnavailableError) this.#isUnavailable = true;
      throw error;
    });
    if (this.#closing === undefined) return session;
    await session.discard();
    throw this.#closedError();
  }

  /** Undefined for the default session while it is not open: it is opened on demand. */
  #find(session: Session | string): Session | undefined {
    if (typeof session !== "string") return session;
    return session === DEFAULT_SESSION ? this.sessions.find(session) : this.sessions.get(session);
  }

  /** For a sandbox that is not a session. The standard library is not loaded into it. */
  #openKernels(): Promise<Kernels> {
    this.#checkOpen();
    const settings = this.#toSettings({ includeStdlib: false }, this.#environments.default);
    return Kernels.open({ ...settings, id: "stdlib" as SessionId }, { onBackground: () => {}, onEnd: () => {} });
  }

  #toSettings(options: SessionOptions, environment: Environment): Omit<SessionSettings, keyof SessionNames> {
    const readStdlib = (): string | undefined => this.#stdlibFile.read();
    const activeWork = this.#activeWork;
    return toSessionSettings(options, this.#settings, { environment, output: this.#output, activeWork, readStdlib });
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw this.#closedError();
  }

  #closedError(): EnvironmentUnavailableError {
    const { name: environment } = this.#environments.default;
    const fix = "Open another with openRuntime()";
    return new EnvironmentUnavailableError({ environment, why: "the runtime is closed", fix });
  }

  async #close(): Promise<void> {
    await this.runs.cancelAll();
    this.tasks.announceEnd(CLOSED);
    await this.sessions.closeAll(CLOSED);
    await this.#environments.close();
    this.tasks.close();
    this.#spillFiles.close();
    this.#activeWork.close();
  }
}
