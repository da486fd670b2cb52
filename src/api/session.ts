// A session as callers see it, local or over HTTP.

import type { SessionEvent } from "../protocol/events.ts";
import type { HistoryEntry } from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";
import type { Checkpoint, SessionInfo, StdlibListing } from "../protocol/sessions.ts";
import type { Completions, InspectedVariable, Signature, VariableList, VariableRows } from "../protocol/variables.ts";
import type { ExecuteOptions, Execution, OutputRange, OutputSlice } from "./execution.ts";
import type { Files } from "./files.ts";
import type { Page, PageOptions } from "./page.ts";
import type { ShellOptions, Task } from "./task.ts";
import type { Content, Signal } from "./web-types.ts";

/**
 * A persistent Python interpreter with an id, a namespace, a working directory and a lifetime. Executions and operations run one at a
 * time, in the order of the calls; inspecting, interrupting and files never wait. `await using` closes it at the end of the block. After its
 * end, everything but `close` and `info` rejects with a SessionClosedError.
 */
export interface Session extends AsyncDisposable {
  /** For `runtime.sessions.get`. */
  readonly id: SessionId;
  /** The files in its working directory. */
  readonly files: Files;
  /** Queues code and returns at once. */
  execute(code: string, options?: ExecuteOptions): Execution;
  /** Starts a bash command in its working directory, once, and returns at once. */
  shell(command: string, options?: ShellOptions): Task;
  /** Interrupts what runs now, as Ctrl-C would. Resolves to the id of the execution that it stopped; null: no code ran. */
  interrupt(): Promise<ExecutionId | null>;
  /** Queues a reset: the namespace and the history are cleared; id, statistics and files stay. */
  reset(): Promise<void>;
  /** Never waits for running code: what is not known in time is null. After the end of the session its final statistics, as `close` has them. */
  info(): Promise<SessionInfo>;
  /** Its last 1,000 executions, the oldest first. */
  history(): Promise<readonly HistoryEntry[]>;
  /** What an execution printed, from a byte offset. Rejects with an ExecutionNotFoundError if its output is no longer kept. */
  output(executionId: string, range?: OutputRange): Promise<OutputSlice>;
  /**
   * Receives every event from now on, background output included. Dispose to stop. On this machine a session with subscriptions still ends
   * when it was idle for its time; over HTTP it does not, as long as one of them is connected.
   */
  subscribe(listener: SessionListener): Subscription;
  /** The names of the namespace, also while code runs. Runs no user code. */
  variables(options?: VariablesOptions): Promise<VariableList>;
  /**
   * One variable, truncated. Null: there is no such name. Does not change the session. While code runs it needs the capability
   * `inspectWhileRunning`, as `complete` and `signature` do.
   */
  inspect(name: string, options?: InspectOptions): Promise<InspectedVariable | null>;
  /**
   * A part of a table: of a frame, a series, an array, a list, a tuple, a set or a dict. Null: there is no such name. Works as `inspect` does,
   * so tables of any size can be paged through, also while code runs. A value without rows has an `error`.
   */
  rows(name: string, options?: RowsOptions): Promise<VariableRows | null>;
  /** The value of a variable that JSON can express. NaN and integers beyond 2^53 are refused. Rejects with a VariableNotFoundError. */
  get(name: string, options: GetOptions & { readonly as: "json" }): Promise<unknown>;
  /** The value of a `str`. */
  get(name: string, options: GetOptions & { readonly as: "text" }): Promise<string>;
  /** The value of `bytes`, a `bytearray` or a `memoryview`. */
  get(name: string, options: GetOptions & { readonly as: "bytes" }): Promise<Uint8Array>;
  /** The value as JSON. */
  get(name: string, options?: GetOptions): Promise<unknown>;
  /** Queues the setting of a variable: JSON, a `str`, or `bytes`. Nothing is set when the content is incomplete. */
  set(name: string, value: VariableValue, options?: OperationOptions): Promise<void>;
  /** Completions at the cursor, which is an index into the code. */
  complete(code: string, cursor: number, options?: LookOptions): Promise<Completions>;
  /** The signature of the innermost open call at the cursor. Null: there is none, or it is not known. */
  signature(code: string, cursor: number, options?: LookOptions): Promise<Signature | null>;
  /** A live copy in milliseconds: namespace, unpicklable objects and open files included, in a copy of the working directory. */
  fork(options?: ForkOptions): Promise<Session>;
  /** Keeps a live copy of the namespace to return to, without the files. Rejects with a ForkRefusedError as `fork` does. */
  checkpoint(): Promise<Checkpoint>;
  /** Its checkpoints, the oldest first. */
  checkpoints(): Promise<readonly Checkpoint[]>;
  /** Drops a checkpoint and frees its memory. */
  dropCheckpoint(checkpoint: Checkpoint | string): Promise<void>;
  /** Returns to a checkpoint, which is kept. Nothing has changed if this rejects. */
  rewind(checkpoint: Checkpoint | string): Promise<Checkpoint>;
  /** Returns to the state before the last execution that was not undone. Needs `autoCheckpoint`. */
  undo(): Promise<void>;
  /** Ends everything in the session and resolves to its final statistics. Idempotent. */
  close(): Promise<SessionInfo>;
}

/** Options of a session. */
export interface SessionOptions {
  /** Letters, digits, `.`, `_`, `-`, at most 64. An id that is taken is an error. Default: generated. */
  readonly id?: string | undefined;
  /** Where it runs. Default: the runtime's. */
  readonly environment?: string | undefined;
  /** Environment variables. Nothing of the host's environment is ever passed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: the session's working directory. */
  readonly cwd?: string | undefined;
  /** `sys.argv`. Default: `[""]`, as at a prompt. */
  readonly argv?: readonly string[] | undefined;
  /** Each one replaces a limit of the runtime. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** Idle time after which it closes. Null: never. Default: the runtime's, 5 minutes. */
  readonly idleTimeoutMs?: number | null | undefined;
  /** Keep a checkpoint from before each of the last executions (true: 10), so that `undo()` works. Default: false. */
  readonly autoCheckpoint?: boolean | number | undefined;
  /** Whether the standard library is loaded. Default: true. */
  readonly includeStdlib?: boolean | undefined;
}

/** What one session may use. */
export interface SessionLimits {
  /** Memory of all its processes. */
  readonly memoryBytes: number;
  /** Everything it writes: its working directory, /tmp and shared memory together. */
  readonly diskBytes: number;
  /** Processes and threads. */
  readonly processes: number;
  /** Open files of one process. */
  readonly openFiles: number;
  /** Forks and checkpoints of the first session that are alive at once. */
  readonly branches: number;
}

/**
 * Receives events. It must not take long. What it throws is reported as an uncaught error, which ends a Node process that does not handle
 * it; the session and the other listeners go on.
 */
export type SessionListener = (event: SessionEvent) => void;

/** Dispose it to stop listening. */
export interface Subscription extends Disposable {
  /** Resolves when listening has begun: what happens later is received. Rejects with a SessionClosedError if the session has ended. */
  readonly ready: Promise<void>;
  /**
   * Resolves when no more events follow: it was disposed, or the session has ended. Rejects where the connection to the server is lost for
   * good.
   */
  readonly ended: Promise<void>;
}

/** The value of a variable. */
export type VariableValue =
  | {
      /** As `JSON.stringify` has it. */
      readonly json: unknown;
    }
  | {
      /** A `str`, or JSON text, whose integers may have any size. */
      readonly text: string;
      /** What the text becomes: a `str`, or the value of the JSON. Default: `text`. */
      readonly as?: "text" | "json" | undefined;
    }
  | {
      /** `bytes`. */
      readonly bytes: Uint8Array;
    }
  | {
      /** A stream of any size. */
      readonly stream: Content;
      /** What it becomes: `bytes`, a `str`, or the value of JSON text. Default: `bytes`. */
      readonly as?: "bytes" | "text" | "json" | undefined;
    };

/** How to read a variable. */
export interface GetOptions extends OperationOptions {
  /** Default: `json`. */
  readonly as?: "json" | "text" | "bytes" | undefined;
  /** Larger values are refused. Default: 64 MiB. */
  readonly maxBytes?: number | undefined;
}

/** Options of an operation that waits in the queue of the session. */
export interface OperationOptions {
  /** Null or Infinity: no limit. Default: the runtime's, 55 s. */
  readonly timeoutMs?: number | null | undefined;
  /** Aborting stops it; while it waits in the queue, it never starts. */
  readonly signal?: Signal | undefined;
}

/** Which variables to list. */
export interface VariablesOptions {
  /** Include names that begin with an underscore. Default: false. */
  readonly all?: boolean | undefined;
}

/** Options of queries that may run user code. */
export interface LookOptions {
  /** For user code that the inspection runs: at most 30 s. Default: 2 s. */
  readonly timeoutMs?: number | undefined;
}

/** Options of an inspection. */
export interface InspectOptions extends LookOptions {
  /** Of `repr` and `str`, each: at most 1,000,000. Default: 10,000. */
  readonly maxCharacters?: number | undefined;
}

/** Which part of a table, by position. */
export interface RowsOptions extends LookOptions {
  /** The first row. Default: 0. */
  readonly start?: number | undefined;
  /** How many rows: at most 500. Default: 100. */
  readonly count?: number | undefined;
  /** The first column. Default: 0. */
  readonly columnStart?: number | undefined;
  /** How many columns: at most 50. Default: 50. */
  readonly columnCount?: number | undefined;
  /** The column of the whole table to sort by. What is missing comes last. Default: the order of the value itself. */
  readonly sortBy?: number | undefined;
  /** The largest first. Default: false. */
  readonly descending?: boolean | undefined;
}

/** Options of a fork. */
export interface ForkOptions {
  /** The id of the copy. Default: generated. */
  readonly id?: string | undefined;
}

/** The live sessions of a runtime. */
export interface Sessions {
  /** Rejects with a SessionNotFoundError. */
  get(id: string): Promise<Session>;
  /** The oldest first. */
  list(options?: PageOptions): Promise<Page<SessionInfo>>;
}

/** Functions that exist in every session opened later. */
export interface StandardLibrary {
  /** Adds Python source and resolves to the names that it defines. Functions and classes of the same name are replaced. */
  add(source: string): Promise<readonly string[]>;
  /** What it defines. */
  list(): Promise<StdlibListing>;
}
