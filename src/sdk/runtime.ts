// The runtime on this machine as the SDK gives it: a facade whose objects show what is public and nothing else.

import {
  checkExecuteOptions,
  checkSessionOptions as checkCommonOptions,
  checkSource,
} from "../api/checks/check-calls.ts";
import {
  checkDockerOptions,
  checkMounts,
  checkRuntimeLimits,
  checkRuntimePython,
  checkWasmOptions,
} from "../api/checks/check-local.ts";
import { checkCode, checkFunction, checkOptions, optionNames } from "../api/checks/check-options.ts";
import { checkShell } from "../api/checks/check-shell.ts";
import type { Execution, Executions } from "../api/execution.ts";
import type {
  Limits,
  LocalOneOffOptions,
  LocalRLM,
  LocalRLMOptions,
  LocalRuntime,
  LocalRuntimeInfo,
  LocalSession,
  LocalSessionOptions,
  LocalSessions,
  LocalStandardLibrary,
  RuntimeOptions,
} from "../api/local.ts";
import { OPTIONS } from "../api/checks/option-names.ts";
import type { Runs } from "../api/run.ts";
import type { OperationOptions, Session } from "../api/session.ts";
import type { RuntimeShellOptions } from "../api/runtime.ts";
import type { ShellOptions, Task, Tasks } from "../api/task.ts";
import { parseSessionId, type ExecutionId, type TaskId } from "../protocol/ids.ts";
import type { TaskEvent } from "../protocol/tasks.ts";
import { openRuntime as openInner, type Runtime as Inner } from "../runtime.ts";
import type { Execution as InnerExecution } from "../session/execution/execution.ts";
import type { SessionOptions as InnerSessionOptions } from "../session/options.ts";
import type { Session as InnerSession } from "../session/session.ts";
import { randomId } from "../util/make-id.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toRuntimeInfo } from "../views/runtime-info.ts";
import { createExecutions, createRuns, createSessions, createTasks } from "./collections.ts";
import { SDKExecution } from "./execution.ts";
import { RecentExecutions, toFingerprint } from "./recent-executions.ts";
import { checkRLMOptions, SDKRLM } from "./rlm.ts";
import { SDKSession, toExecuteOptions } from "./session.ts";
import { SDKTask } from "./task.ts";

const RUNTIME_OPTIONS = optionNames<RuntimeOptions>({
  environment: true,
  python: true,
  preload: true,
  poolSize: true,
  limits: true,
  mounts: true,
  timeoutMs: true,
  idleTimeoutMs: true,
  users: true,
  stdlibPath: true,
  docker: true,
  wasm: true,
  onProgress: true,
  ids: true,
});
const LOCAL_OPTIONS: readonly (keyof LocalSessionOptions)[] = ["python", "mounts", "onCall"];

/**
 * Opens a runtime on this machine. Starts nothing: the first session does, or `runtime.warm()`. Rejects with an
 * EnvironmentUnavailableError for an unknown environment.
 */
export function openRuntime(options: RuntimeOptions = {}): Promise<LocalRuntime> {
  checkOptions("openRuntime", options, RUNTIME_OPTIONS);
  checkRuntimeLimits(options.limits);
  checkMounts(options.mounts);
  checkDockerOptions(options.docker);
  checkWasmOptions(options.wasm);
  checkRuntimePython(options.environment, options.python);
  return open(omitUndefined(options));
}

async function open(options: Parameters<typeof openInner>[0]): Promise<LocalRuntime> {
  return new SDKRuntime(await openInner(options));
}

class SDKRuntime implements LocalRuntime {
  readonly limits: Limits;
  readonly sessions: LocalSessions;
  readonly tasks: Tasks;
  readonly runs: Runs;
  readonly executions: Executions;
  readonly stdlib: LocalStandardLibrary;
  readonly #runtime: Inner;
  readonly #recent = new RecentExecutions();
  readonly #sessions = new WeakMap<InnerSession, SDKSession>();
  readonly #inner = new WeakMap<SDKSession, InnerSession>();

  constructor(runtime: Inner) {
    this.#runtime = runtime;
    this.limits = Object.freeze({ ...runtime.limits }); // changing it must change nothing
    this.sessions = createSessions(runtime, (session) => this.#toSession(session));
    this.tasks = createTasks(runtime);
    this.runs = createRuns(runtime);
    this.executions = createExecutions(this.#recent);
    const { stdlib } = runtime;
    this.stdlib = {
      path: stdlib.path,
      add: (source) => {
        checkSource(source);
        return stdlib.add(source);
      },
      list: () => stdlib.list(),
    };
  }

  openSession(options: LocalSessionOptions = {}): Promise<LocalSession> {
    checkSessionOptions("runtime.openSession", options, [...OPTIONS.session, ...LOCAL_OPTIONS]);
    return this.#open(this.#runtime.openSession(toSessionOptions(options)));
  }

  obtainSession(id: string, options: Omit<LocalSessionOptions, "id"> = {}): Promise<LocalSession> {
    const known = [...OPTIONS.session, ...LOCAL_OPTIONS].filter((name) => name !== "id");
    checkSessionOptions("runtime.obtainSession", options, known);
    return this.#open(this.#runtime.obtainSession(id, toSessionOptions(options)));
  }

  loadSession(path: string, options: LocalSessionOptions & OperationOptions = {}): Promise<LocalSession> {
    const known = [...OPTIONS.session, ...LOCAL_OPTIONS, ...OPTIONS.operation];
    checkSessionOptions("runtime.loadSession", options, known);
    const { timeoutMs, signal } = options;
    const own = { ...toSessionOptions(options), ...omitUndefined({ timeoutMs, signal }) };
    return this.#open(this.#runtime.loadSession(path, own));
  }

  execute(code: string, options: LocalOneOffOptions = {}): Execution {
    checkCode(code);
    const known = [...OPTIONS.oneOff, ...LOCAL_OPTIONS];
    checkExecuteOptions("runtime.execute", options, known);
    checkSessionOptions("runtime.execute", { ...options, id: undefined }, known);
    const id = (options.id ?? randomId("x")) as ExecutionId;
    const fingerprint = toFingerprint(null, code, options);
    const start = (): Promise<InnerExecution> => this.#executeOnce(id, code, options, fingerprint);
    return new SDKExecution(id, this.#recent.startOnceLater(id, fingerprint, start));
  }

  shell(command: string, options: RuntimeShellOptions = {}): Task {
    checkOptions("runtime.shell", options, OPTIONS.runtimeShell);
    const { session, ...own } = options;
    checkShell(command, omitUndefined(own));
    const inner = typeof session === "object" && session !== null ? this.#toInner(session) : session;
    if (session !== undefined && typeof inner !== "object") parseSessionId(inner);
    return this.#shell(command, own, inner);
  }

  rlm(options: LocalRLMOptions = {}): LocalRLM {
    checkRLMOptions(options);
    const { limits, ...own } = options;
    const rlm = this.#runtime.rlm(omitUndefined({ ...own, limits: limits && omitUndefined(limits) }));
    return new SDKRLM(rlm, this.#runtime);
  }

  async info(): Promise<LocalRuntimeInfo> {
    const { notMounted, preloaded, user, users } = this.#runtime.report();
    return { ...toRuntimeInfo(this.#runtime), notMounted, preloaded, user, users };
  }

  warm(): Promise<void> {
    return this.#runtime.warm();
  }

  async close(): Promise<void> {
    await this.#runtime.close();
    this.#recent.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open(opening: Promise<InnerSession>): Promise<LocalSession> {
    return this.#toSession(await opening);
  }

  /** The same object for the same session. */
  #toSession(session: InnerSession): LocalSession {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const created = new SDKSession(session, {
      recent: this.#recent,
      maxValueBytes: this.limits.memoryBytes,
      shell: (command, options, inner) => {
        checkOptions("session.shell", options, OPTIONS.shell);
        checkShell(command, omitUndefined(options));
        return this.#shell(command, options, inner);
      },
      toSession: (inner) => this.#toSession(inner),
    });
    this.#sessions.set(session, created);
    this.#inner.set(created, session);
    return created;
  }

  /** The id where it is not of this runtime. */
  #toInner(session: Session): InnerSession | string {
    return session instanceof SDKSession ? (this.#inner.get(session) ?? session.id) : session.id;
  }

  /** The arguments are checked. */
  #shell(command: string, options: ShellOptions, session: InnerSession | string | undefined): Task {
    try {
      const task = this.#runtime.shell(command, omitUndefined({ ...options, session }));
      return new SDKTask<TaskEvent>(task.id, task);
    } catch (error) {
      return new SDKTask<TaskEvent>((options.id ?? randomId("t")) as TaskId, Promise.reject(error));
    }
  }

  async #executeOnce(
    id: ExecutionId,
    code: string,
    options: LocalOneOffOptions,
    fingerprint: string,
  ): Promise<InnerExecution> {
    options.signal?.throwIfAborted();
    const session = await this.#runtime.openSession(toSessionOptions(options, ["id", "env"]));
    try {
      const execution = session.execute(code, { ...toExecuteOptions(options), id });
      this.#recent.add(execution, fingerprint);
      this.#recent.hold(execution);
      const discard = (): void => void session.discard();
      execution.result.then(discard, discard);
      return execution;
    } catch (error) {
      void session.discard();
      throw error;
    }
  }
}

/** Throws a TypeError or RangeError for options that can never work. */
function checkSessionOptions(call: string, options: LocalSessionOptions, known: readonly string[]): void {
  checkCommonOptions(call, options, known);
  checkFunction("onCall", options.onCall);
  checkMounts(options.mounts);
}

/** The options of a session among these, without what is undefined. */
function toSessionOptions(options: LocalSessionOptions, omitted: readonly string[] = []): InnerSessionOptions {
  const own: Record<string, unknown> = {};
  for (const name of [...OPTIONS.session, ...LOCAL_OPTIONS]) {
    const value = options[name];
    if (value !== undefined && !omitted.includes(name)) own[name] = value;
  }
  return own;
}
