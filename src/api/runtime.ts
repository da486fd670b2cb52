// The runtime as callers see it. `openRuntime` and `connectRuntime` both return one.

import type { RuntimeInfo } from "../protocol/api/about.ts";
import type { ExecuteOptions, Execution, Executions } from "./execution.ts";
import type { RLM, RLMOptions, Runs } from "./run.ts";
import type { Session, SessionOptions, Sessions, StandardLibrary } from "./session.ts";
import type { ShellOptions, Task, Tasks } from "./task.ts";

/** Options of code that runs in a session of its own. */
export interface OneOffOptions
  extends ExecuteOptions, Omit<SessionOptions, "id" | "env" | "autoCheckpoint" | "idleTimeoutMs"> {}

/** Options of a command that may name its session. */
export interface RuntimeShellOptions extends ShellOptions {
  /** The session whose files it uses, or its id. Default: `default`, which is opened when it is needed. */
  readonly session?: Session | string | undefined;
}

/** Sessions, shell commands and recursive runs: on this machine, or of a server. `await using` closes it at the end of the block. */
export interface Runtime extends AsyncDisposable {
  /** The live sessions. */
  readonly sessions: Sessions;
  /** Shell commands, and executions and runs that outlived their calls. */
  readonly tasks: Tasks;
  /** Live and recorded runs. */
  readonly runs: Runs;
  /** Executions: running ones, and those that ended recently. */
  readonly executions: Executions;
  /** Functions that exist in every session opened later. */
  readonly stdlib: StandardLibrary;
  /** Rejects with an EnvironmentUnavailableError, SessionExistsError, LimitExceededError or REPLSecurityError; nothing remains then. */
  openSession(options?: SessionOptions): Promise<Session>;
  /** One-off: code in a session that lives for this call. */
  execute(code: string, options?: OneOffOptions): Execution;
  /** Starts a bash command, once, in the working directory of a session, and returns at once. */
  shell(command: string, options?: RuntimeShellOptions): Task;
  /** Sets up recursive runs. Starts nothing. */
  rlm(options?: RLMOptions): RLM;
  /** Versions, and what the environment can do. */
  info(): Promise<RuntimeInfo>;
  /** Of a local runtime: ends every session and every process. Of a server: ends the connection only. Idempotent. */
  close(): Promise<void>;
}
