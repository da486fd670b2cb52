// Options of sessions, executions and operations, and the limits of a runtime; checked where they enter.

import type { Limits, Mount } from "../api/local.ts";
import type { SandboxLimits } from "../environments/environment.ts";
import type { WorkerCallHandler } from "../kernel/bulk/worker-call.ts";
import type { OutputReceiver } from "../kernel/listeners.ts";
import { checkWorkId } from "../protocol/ids.ts";
import { checkCount, checkDuration } from "../util/check-number.ts";
import { DEFAULT_LIMITS } from "./default-limits.ts";
import type { InputHandler } from "./execution/input.ts";

export type { WorkerCall, WorkerCallHandler } from "../kernel/bulk/worker-call.ts";
export type { OutputReceiver } from "../kernel/listeners.ts";

export interface SessionOptions {
  /** Default: `s1`, `s2`, ..., or as the runtime's `ids` says. An id that is taken is an error. */
  readonly id?: string;
  /** Default: the runtime's. */
  readonly environment?: string;
  /** Default: the runtime's. */
  readonly python?: string;
  /** Environment variables. Nothing of the host's environment is ever passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the session's working directory. */
  readonly cwd?: string;
  /** `sys.argv`. Default: `[""]`, as at a prompt. */
  readonly argv?: readonly string[];
  /** In addition to the runtime's. */
  readonly mounts?: readonly Mount[];
  readonly limits?: Partial<SandboxLimits>;
  readonly idleTimeoutMs?: number | null;
  /** Keep a checkpoint from before each of the last executions (true: 10), so that `undo()` works. Default: false. */
  readonly autoCheckpoint?: boolean | number;
  /** Whether the standard library is loaded. Default: true. */
  readonly includeStdlib?: boolean;
  /** Answers `rlm_host.call(name, ...)` in the session. Default: every call is refused. */
  readonly onCall?: WorkerCallHandler;
}

export interface ExecuteOptions {
  /** Must differ from that of every other execution, which is up to the caller. Default: generated. */
  readonly id?: string;
  /** Running time, waiting for host calls not counted. Null or Infinity: no limit. Default: the runtime's, 55 s. */
  readonly timeoutMs?: number | null;
  /** Environment variables for this execution only. */
  readonly env?: Readonly<Record<string, string>>;
  /** What tracebacks call the code. Default: `<cell N>`. */
  readonly fileName?: string;
  /** Aborting interrupts the code; while it waits in the queue, it never starts. */
  readonly signal?: AbortSignal;
  /** Answers `input()` and reads of `sys.stdin`. `ask`: they wait for `execution.answerInput`. Default: the code sees the end of input. */
  readonly onInput?: InputHandler | "ask";
  /** Gets everything that is printed and displayed, however much it is, and can make the code wait. Must not throw. */
  readonly receiver?: OutputReceiver;
  /** The code was typed in a console: its value is pretty-printed for so many columns (0: not), and kept in `In` and `Out`. */
  readonly console?: { readonly columns: number };
}

export interface OperationOptions {
  /** Null or Infinity: no limit. Default: the runtime's, 55 s. */
  readonly timeoutMs?: number | null;
  /** Aborting stops it; while it waits in the queue, it never starts. */
  readonly signal?: AbortSignal;
}

const MIB = 1024 * 1024;

/** A worker needs at least this to start. Its own file descriptors are numbered from 64 on. */
const MINIMUM: Readonly<Record<string, number>> = { memoryBytes: 64 * MIB, processes: 3, openFiles: 96, branches: 0 };

export function withDefaults(defaults: Limits, limits: Partial<Limits> = {}): Limits {
  const defined = Object.entries(limits).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(defined) };
}

/** In `wasm` the process around Python needs this, with Node 20 and 24. A worker with less does not start, or ends while code runs. */
const MINIMUM_IN_WASM = 192 * MIB;

export function checkLimits(limits: Partial<Limits> = {}): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) throw new TypeError(`Cannot use limits.${name}: there is no such limit`);
    checkCount(`limits.${name}`, value, MINIMUM[name] ?? 1);
  }
}

/** Throws a RangeError for a session that the environment of this name cannot hold in its memory. */
export function checkMemoryIn(environment: string, { memoryBytes }: Pick<Limits, "memoryBytes">): void {
  if (environment === "wasm") checkCount("limits.memoryBytes in environment 'wasm'", memoryBytes, MINIMUM_IN_WASM);
}

export function checkExecuteOptions(code: unknown, { id, timeoutMs, env }: ExecuteOptions): void {
  if (typeof code !== "string") throw new TypeError(`Cannot execute a ${typeof code}: code must be a string`);
  if (id !== undefined) checkWorkId(id);
  checkDuration("timeoutMs", timeoutMs);
  if (env !== undefined) checkEnvironment(env);
}

export function checkEnvironment(env: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || name.includes("=") || name.includes("\0")) {
      throw new RangeError(`Cannot set environment variable '${name}': the name is not valid`);
    }
    if (typeof value !== "string" || value.includes("\0")) {
      throw new TypeError(`Cannot set environment variable '${name}': the value must be a string without NUL`);
    }
  }
}
