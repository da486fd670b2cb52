// What a runtime on this machine has beyond one over HTTP: whatever needs the host.

import type { Backend, ModelPrice } from "../backends/backend.ts";
import type { LanguageModel } from "../backends/providers/language-model.ts";
import type { BackendDefinition, ModelDefinition } from "./models.ts";
import type { RuntimeInfo } from "../protocol/api/about.ts";
import type { FileEntry } from "../protocol/files.ts";
import type { LoadReport, SaveReport } from "../protocol/session-manifest.ts";
import type { StrategyChanges } from "../protocol/strategy/strategy.ts";
import type { Tool } from "../tools/tool.ts";
import type { Execution } from "./execution.ts";
import type { FileOptions, FileRangeOptions, Files } from "./files.ts";
import type { ContextFile, ContextValue, RLM, RLMLimits, RLMOptions, RunRequest } from "./run.ts";
import type { OneOffOptions, Runtime, RuntimeShellOptions } from "./runtime.ts";
import type {
  ForkOptions,
  OperationOptions,
  Session,
  SessionLimits,
  SessionOptions,
  Sessions,
  StandardLibrary,
  VariableValue,
} from "./session.ts";
import type { Task } from "./task.ts";
import type { Signal } from "./web-types.ts";

/** A runtime on this machine. */
export interface LocalRuntime extends Runtime {
  readonly sessions: LocalSessions;
  readonly stdlib: LocalStandardLibrary;
  /** The limits in force. */
  readonly limits: Limits;
  openSession(options?: LocalSessionOptions): Promise<LocalSession>;
  /** The live session with this id, or a new one with these options. */
  obtainSession(id: string, options?: Omit<LocalSessionOptions, "id">): Promise<LocalSession>;
  /**
   * Opens a session with the state of a session file; `session.loaded` says what was loaded. Rejects with a REPLSecurityError for a file
   * that is damaged or not a session file, and a SessionStateError for one that cannot be used here.
   */
  loadSession(path: string, options?: LocalSessionOptions & OperationOptions): Promise<LocalSession>;
  execute(code: string, options?: LocalOneOffOptions): Execution;
  shell(command: string, options?: RuntimeShellOptions): Task;
  rlm(options?: LocalRLMOptions): LocalRLM;
  info(): Promise<LocalRuntimeInfo>;
  /** Starts what the first session would start, and fills the pool. */
  warm(): Promise<void>;
}

/** What is known about a runtime on this machine. */
export interface LocalRuntimeInfo extends RuntimeInfo {
  /** Optional mounts that were left out, and why: whole sentences. */
  readonly notMounted: readonly string[];
  /** Modules that sessions import at no cost. */
  readonly preloaded: readonly string[];
  /** The user of the machine that the sandbox runs as. Null until it is known. */
  readonly user: number | null;
  /** The users of the machine that sessions get, one each, or why they share `user`. Null until it is known. */
  readonly users:
    | {
        /** The first of them. */
        readonly first: number;
        /** The last of them. */
        readonly last: number;
      }
    | {
        /** Why there are none. */
        readonly why: string;
      }
    | null;
}

/** A session on this machine. */
export interface LocalSession extends Session {
  readonly files: LocalFiles;
  /** What was loaded from the session file that it started with. Null: it started empty. */
  readonly loaded: LoadReport | null;
  /** Queues the setting of a variable, also from a file of the host. */
  set(name: string, value: LocalVariableValue, options?: OperationOptions): Promise<void>;
  /** Saves every variable that can be saved. A file at the path is replaced once all is written. */
  save(path: string, options?: OperationOptions): Promise<SaveReport>;
  fork(options?: ForkOptions): Promise<LocalSession>;
  /** Prevents idle expiry until disposed; the idle time then starts anew. */
  hold(): Disposable;
}

/** The live sessions of a runtime on this machine. */
export interface LocalSessions extends Sessions {
  get(id: string): Promise<LocalSession>;
}

/** The standard library in a file of this machine. */
export interface LocalStandardLibrary extends StandardLibrary {
  /** The file; it need not exist. */
  readonly path: string;
}

/** Files of a session on this machine. */
export interface LocalFiles extends Files {
  /** The working directory, as code in the session sees it. */
  readonly folder: string;
  /** Copies a file to a path of the host. A file there is replaced only when the copy is complete. */
  readTo(path: string, hostPath: string, options?: FileRangeOptions): Promise<CopiedFile>;
  /** Copies a file of the host. */
  writeFrom(path: string, hostPath: string, options?: FileOptions): Promise<FileEntry>;
}

/** A file that was copied to the host. */
export interface CopiedFile {
  /** In bytes. */
  readonly size: number;
}

/** Options of a session on this machine. */
export interface LocalSessionOptions extends SessionOptions {
  /**
   * An interpreter, the folder of a virtual environment, or a command name. Default: the runtime's. Refused in `docker` and `wasm`, whose
   * sessions use the Python of their image and of Pyodide.
   */
  readonly python?: string | undefined;
  /** Folders of the host that are visible in it, in addition to the runtime's. */
  readonly mounts?: readonly Mount[] | undefined;
  /** Answers `rlm_host.call(name, ...)` in the session. Default: every call is refused. */
  readonly onCall?: CallHandler | undefined;
}

/** Answers a call from inside a session. An error that it throws is raised there, with name and message. */
export type CallHandler = (call: HostCall) => Promise<unknown>;

/** A call of `rlm_host.call(name, ...)`. */
export interface HostCall {
  /** What the code calls. */
  readonly name: string;
  /** Its keyword arguments. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The execution that made the call. */
  readonly executionId: string;
  /** Aborted when the execution that made the call is interrupted or lost. */
  readonly signal: Signal;
}

/** Options of code that runs in a session of its own on this machine. */
export interface LocalOneOffOptions extends OneOffOptions, Pick<LocalSessionOptions, "python" | "mounts" | "onCall"> {}

/** The value of a variable, which may be in a file of the host. */
export type LocalVariableValue =
  | VariableValue
  | {
      /** A path of the host. */
      readonly file: string;
      /** What it becomes: `bytes`, a `str`, or the value of JSON text. Default: `bytes`. */
      readonly as?: "bytes" | "text" | "json" | undefined;
    };

/** A folder or file of the host that is visible in a session, at the same path. */
export interface Mount {
  /** An absolute path. */
  readonly path: string;
  /** Whether code may only read it, or also write to it. */
  readonly mode: "ro" | "rw";
  /**
   * The name of a link to it in the working directory, so that `data` leads to a folder `/home/me/data`. Of mounts with one name, the
   * first has the link. Default: the last part of the path; none where `isOptional` is true.
   */
  readonly name?: string;
  /**
   * Whether files and folders that hold secrets by their names, such as `.env`, are unreadable: those that exist when the session is
   * opened. Default: false.
   */
  readonly hideSecrets?: boolean;
  /** Where secrets cannot be hidden, whether it is left out and reported if it holds any, not refused. Default: false. */
  readonly isOptional?: boolean;
}

/** Options of a runtime. */
export interface RuntimeOptions {
  /** Where sessions run unless they name another environment: `local`, `docker` or `wasm`. Default: `local`. */
  readonly environment?: string | undefined;
  /**
   * An interpreter, the folder of a virtual environment, or a command name. Default: RLM_PYTHON, else `python3`. Refused with the
   * `docker` environment, whose sessions use the Python of their image; in `wasm` it only builds the walls around sessions.
   */
  readonly python?: string | undefined;
  /**
   * Modules that sessions import at no cost; missing ones are skipped. Refused where `environment` is `wasm`. Default: RLM_PRELOAD, else
   * the usual ones, numpy and pandas.
   */
  readonly preload?: readonly string[] | undefined;
  /** Sandboxes that are kept ready for the next session. Default 3; with 0 nothing starts before the first session. */
  readonly poolSize?: number | undefined;
  /** Each one replaces a default. */
  readonly limits?: Partial<Limits> | undefined;
  /** Folders of the host that are visible in every session. Default: none. */
  readonly mounts?: readonly Mount[] | undefined;
  /** For executions that name no time limit. Null: no limit. Default: 55 s. */
  readonly timeoutMs?: number | null | undefined;
  /** For sessions that name no idle limit. Null: they never expire. Default: 5 minutes. */
  readonly idleTimeoutMs?: number | null | undefined;
  /**
   * Users of the machine that sessions run as, one each, where the host is root or has subordinate ids: "FIRST-LAST", ids that
   * no account has. Default: RLM_SANDBOX_USERS, else a range that is free here.
   */
  readonly users?: string | undefined;
  /** The file of the standard library; it need not exist. Default: `stdlib.py` in the data folder. */
  readonly stdlibPath?: string | undefined;
  /** Options for the `docker` environment. */
  readonly docker?: DockerOptions | undefined;
  /** Options for the `wasm` environment. */
  readonly wasm?: WasmOptions | undefined;
  /** Called with a line of text while something takes long, such as pulling an image. Default: ignored. */
  readonly onProgress?: ((text: string) => void) | undefined;
  /** What generated ids look like: `short` (`s1`, `t1`), or `random`, which cannot be guessed. Default: short. */
  readonly ids?: "short" | "random" | undefined;
}

/** Options for the `docker` environment. */
export interface DockerOptions {
  /** Any image with Python 3.9 or newer. Default: `python:3.11-slim`, else the image that `rlm env add docker` has built. */
  readonly image?: string | undefined;
  /** Processors of a session, such as 0.5. Default: no limit. */
  readonly cpus?: number | undefined;
  /** Memory of a session, its files included, as the engine limits it. Default: enough for the limits of the session. */
  readonly memoryBytes?: number | undefined;
  /** Processes of a session as the engine limits them. Default: enough for the limits of the session. */
  readonly pids?: number | undefined;
  /** A network of the engine that sessions may use without a filter. Default: `none`. */
  readonly network?: string | undefined;
  /** The engine's runtime, such as `runsc`. Default: the engine's default. */
  readonly runtime?: string | undefined;
  /** When the image is pulled. Default: `missing`. */
  readonly pull?: "missing" | "always" | "never" | undefined;
  /** The address of the engine, such as `unix:///run/docker.sock`. Default: DOCKER_HOST, else that of the `docker` command. */
  readonly host?: string | undefined;
}

/** Options for the `wasm` environment. */
export interface WasmOptions {
  /** A folder of wheels that sessions can import. Default: none. */
  readonly wheels?: string | undefined;
}

/** Limits of a runtime. */
export interface Limits extends SessionLimits {
  /** Sessions alive at once. */
  readonly sessions: number;
  /** Memory of all sessions together, their files included. */
  readonly totalMemoryBytes: number;
  /** Executions that may wait in one session. */
  readonly waiting: number;
  /** Shell commands and adopted executions that run at once. */
  readonly tasks: number;
  /** What a result keeps of each stream, beginning and end. */
  readonly keptOutputBytes: number;
  /** What stays readable by offset. */
  readonly readableOutputBytes: number;
  /** What the output of all executions and tasks may take in the temporary folder. */
  readonly totalOutputBytes: number;
}

/** Options of recursive runs on this machine. */
export interface LocalRLMOptions extends Omit<RLMOptions, "model" | "subModel" | "childModel" | "extractModel"> {
  /** Needed here. Of the root: a name, or a language model of the AI SDK, whose name is its `modelId`. */
  readonly model?: string | LanguageModel | undefined;
  /** Answers `llm_query`. Default: the model. */
  readonly subModel?: string | LanguageModel | undefined;
  /** Of nodes below the root. Default: the model. */
  readonly childModel?: string | LanguageModel | undefined;
  /** Gives the best answer at a limit. Default: the model of the node. */
  readonly extractModel?: string | LanguageModel | undefined;
  /** Models under names of your own, with their settings: for the roles above, and for `llm_query(model=...)`. Default: none. */
  readonly models?: Readonly<Record<string, ModelDefinition | LanguageModel>> | undefined;
  /** Backends under names of your own. Default: the built-in ones. */
  readonly backends?: Readonly<Record<string, BackendDefinition | Backend>> | undefined;
  /**
   * A name of `backends`, a provider (`openai`, `anthropic`, `gemini`, ...), `openai-compatible`, `scripted`, or your own implementation. All
   * models without a backend of their own go to it. Default, for each model: the part before the first slash of its name, if that is a
   * backend; else `anthropic` for `claude...`, `gemini` for `gemini...`, and `openai`.
   */
  readonly backend?: string | Backend | undefined;
  /** Of the backend, which is then `openai-compatible` by default. Default: the provider's. */
  readonly baseUrl?: string | undefined;
  /** Of the backend. Default: from the environment. It never reaches a session, a log or an error. */
  readonly apiKey?: string | undefined;
  /** For reasoning models, in the provider's terms: `low`, `medium`, `high`. Other models are called without it. Default: the provider's. */
  readonly reasoningEffort?: string | undefined;
  /** Limit on each answer, reasoning included, where a call sets none. Default: by what the call is for. */
  readonly maxTokens?: number | undefined;
  /** Further fields of every request's body, in the provider's terms. Default: none. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Host functions that code of the run may call. Default: none. */
  readonly tools?: readonly Tool[] | undefined;
  /** Whether identical calls are answered from memory and disk. Default: true, except for the scripted backend. */
  readonly cache?: boolean | undefined;
  /** By model. They take precedence over the built-in table. */
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined;
  /** For one block of code. Default: 120 s. */
  readonly cellTimeoutMs?: number | undefined;
  /**
   * How models are asked, and what they are shown: the name of a shipped strategy, the path of a TOML or JSON file, or what differs from
   * a shipped one. Default: for each model the shipped one that fits.
   */
  readonly strategy?: string | StrategyChanges | undefined;
  /** Replaces the system prompt of the strategy. */
  readonly systemPrompt?: string | undefined;
  /** Concurrency and retries of model calls. */
  readonly dispatcher?: DispatchOptions | undefined;
  /** Whether runs are recorded. Default: true. */
  readonly log?: boolean | undefined;
}

/** Concurrency and retries of model calls. */
export interface DispatchOptions {
  /** The most requests in flight, of all models together. How many there are adapts to the provider. Default: 64. */
  readonly maxConcurrency?: number;
  /** Attempts per call, the first one included. Waiting for a rate limit costs none. Default: 4. */
  readonly maxTries?: number;
  /**
   * The longest that calls wait while the provider accepts none, and that one call waits between its attempts, all together. Default:
   * 5 minutes.
   */
  readonly maxWaitMs?: number;
  /** Before the second attempt; it doubles each time, up to 30 s. Default: 500 ms. */
  readonly firstDelayMs?: number;
}

/** Recursive runs on this machine. */
export interface LocalRLM extends RLM<LocalRunRequest> {
  /** The limits of every run that does not set its own. */
  readonly limits: RLMLimits & Required<Pick<RLMLimits, "maxDepth" | "maxIterations">>;
  /** Rejects with a BackendConnectionError for an unknown backend or a missing key. */
  check(): Promise<void>;
}

/** One question, whose material may be in files of the host. */
export interface LocalRunRequest extends Omit<RunRequest, "context"> {
  /** The material: a variable in the root session, or several. */
  readonly context?: LocalContext | undefined;
  /** Whether regular expressions of the schema are tried on the answer. Use false for an untrusted schema, which could block the host. Default: true. */
  readonly patterns?: boolean | undefined;
}

/** A file of the host that becomes a value in a dict, under its name. */
export interface HostFile {
  /** Its key in the dict. */
  readonly name: string;
  /** Where it is. */
  readonly path: string;
}

/** The value of one variable, which may be in files of the host. */
export type LocalContextValue =
  | ContextValue
  | {
      /** A path of the host, read as text. */
      readonly file: string;
    }
  | {
      /** A dict from name to text. */
      readonly files: readonly (ContextFile | HostFile)[];
      /** The name of the folder they are in, for the model. */
      readonly folder?: string | undefined;
    };

/** A single value is the variable `context`; an object with other keys has one variable per key. */
export type LocalContext = LocalContextValue | { readonly [variable: string]: LocalContextValue };
