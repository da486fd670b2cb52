// The contract of an environment: how to run workers, with stated guarantees.
//
// `fork`, `checkpoint` and `startProgram` are optional: a sandbox has them where its environment declares the
// capability. `tests/contracts/environment.ts` runs against every environment.
//
// Nothing of an environment keeps the host process alive. Whoever waits for it counts that as active work (`util/async/active-work.ts`).

import type { DockerOptions, Mount, WasmOptions } from "../api/local.ts";
import type { SessionLimits } from "../api/session.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { Capabilities } from "../protocol/capabilities.ts";
import type { UserRange } from "../util/user-range.ts";

/** What one sandbox may use. The kernel enforces it per process; memory is also watched as a sum over all of them. */
export type SandboxLimits = SessionLimits;

export interface SandboxOptions {
  readonly mounts: readonly Mount[];
  readonly limits: SandboxLimits;
}

/** How a worker's process ended. `reason` is set when the sandbox killed it. */
export type WorkerExit =
  | { readonly kind: "code"; readonly code: number; readonly reason: KillReason | null }
  | { readonly kind: "signal"; readonly signal: number; readonly reason: KillReason | null }
  | { readonly kind: "sandbox-gone" };

/** From a kill to its report. Code can delay the end of its processes, and with many of them the sandbox's answer. */
export const KILL_LIMIT_MS = 400;

export type KillReason = "timeout" | "cancelled" | "memory" | "violation" | "closed";

/** Receives what a worker sends. Buffers are valid only during the call: copy what you keep. */
export interface WorkerListener {
  /** The first `length` bytes of the buffer. */
  onEvents(buffer: Buffer, length: number): void;
  onOutput(stream: OutputStream, chunk: Buffer): void;
  /** Output from pipes that `renewStreams` replaced. */
  onBackground(stream: OutputStream, chunk: Buffer): void;
  /** Called once, after the last byte of events and output. */
  onExit(exit: WorkerExit): void;
}

/** One worker process. Methods may be called at any time and do nothing once it has ended. */
export interface Worker {
  /** Must be called once, before anything is sent. */
  listen(listener: WorkerListener): void;
  /** Sends one line, with an optional payload, to the main thread. */
  command(line: string, payload?: string | Uint8Array): void;
  /** Resolves when all commands are written and their bytes may be reused, or the worker has ended. */
  commandTaken(): Promise<void>;
  /** Sends one line to the listener thread, which reads while code runs. */
  aside(line: string, payload?: string): void;
  /** Bytes sent to the listener thread that the worker has not read yet. */
  readonly asideBacklog: number;
  /** Resolves when that backlog is empty, or the worker has ended. */
  asideTaken(): Promise<void>;
  /** Resolves when the signal has been sent. */
  interrupt(): Promise<void>;
  /**
   * Ends the worker and everything it started. The sandbox and its files stay. `onExit` is called within `KILL_LIMIT_MS`, whether or not
   * the sandbox has reported the exit by then.
   */
  kill(reason: KillReason): void;
  /** Enables the memory watch while code runs. */
  watch(on: boolean): void;
  /** Delivers at once what the output pipes contain, also while they are paused. Without a stream: both. */
  drain(stream?: OutputStream): void;
  /** Delivers at once what the event pipe contains. Does nothing while `onEvents` is called. */
  readEvents(): void;
  /** Stops reading a stream. Whatever prints to it waits once its pipe is full. */
  pauseOutput(stream: OutputStream): void;
  resumeOutput(stream: OutputStream): void;
  /** Gives the worker a new pair of output pipes. Output from the old pair is background output from then on. */
  renewStreams(): Promise<void>;
}

/** Makes the worker fork itself as this branch. Resolves when it has, rejects with the reason why it did not. */
export type AskForFork = (branch: number) => Promise<void>;

/** What one session uses of the machine's memory now. */
export interface SandboxUsage {
  /** Its processes, checkpoints included. Shared pages count in part. */
  readonly memoryBytes: number;
  /** Its files, which are in memory too. Sessions of one family share the sum equally. */
  readonly diskBytes: number;
}

/** A frozen copy of a worker. */
export interface SandboxCheckpoint {
  /** It was released, or killed because the checkpoints of its session used too much memory. */
  readonly ended: boolean;
  release(): void;
}

/**
 * A short-lived process of ours inside the sandbox. It runs beside the worker, does not wait for it and does not end with
 * it. The first line written to it says what to do. Its caller closes it; so does the end of the session.
 */
export interface Job {
  /** Resolves when the data is written, to false once the job has ended. Await it for backpressure. */
  write(data: string | Uint8Array): Promise<boolean>;
  /** Its output until it ends. May be called once. A slow reader slows the job. */
  output(): AsyncIterable<Buffer>;
  /** Resolves when its process has ended. */
  readonly ended: Promise<void>;
  /** Closes its pipes, so that it can clean up, and kills it a second later. Idempotent. */
  close(): void;
}

export interface ProgramSpec {
  /** For bash. */
  readonly command: string;
  /** Relative to the sandbox's working directory, or absolute. */
  readonly cwd: string;
  /** In addition to the environment variables that every process in the sandbox has. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether `write` feeds its standard input. Otherwise standard input is empty. */
  readonly hasInput: boolean;
}

/** Of all its processes, ended ones included. `peakBytes` is sampled: 0 if it ended before the first sample. */
export interface ProgramUsage {
  readonly cpuMs: number;
  readonly peakBytes: number;
}

/** How the command ended. `isLeft`: processes that it started are still alive. */
export type ProgramExit =
  | { readonly kind: "code"; readonly code: number; readonly reason: KillReason | null; readonly isLeft: boolean }
  | { readonly kind: "signal"; readonly signal: number; readonly reason: KillReason | null; readonly isLeft: boolean }
  | { readonly kind: "not-started"; readonly why: string; readonly isLeft: false }
  | { readonly kind: "sandbox-gone"; readonly isLeft: false };

export interface ProgramListener {
  /** The chunk is valid only during the call. Continues after the command's end while its processes are alive. */
  onOutput(stream: OutputStream, chunk: Buffer): void;
  /** Called once, after the command's own output. */
  onExit(exit: ProgramExit, usage: ProgramUsage): void;
  /** Called once, after `onExit`: none of its processes is alive, and no output follows. */
  onGone(usage: ProgramUsage): void;
}

/** A shell command with all processes it starts. Methods do nothing once none of them is alive. */
export interface Program {
  /** Resolves when the data is written, to false where no process reads it. */
  write(data: string | Uint8Array): Promise<boolean>;
  closeInput(): void;
  /** Stops every process. Resolves when they are stopped or have ended. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Sends SIGTERM to every process. */
  askToEnd(): void;
  /** Sends SIGKILL to every process. */
  kill(): void;
  /** Null when none of its processes is alive. */
  measure(): Promise<ProgramUsage | null>;
}

/** The isolation around one session. It outlives workers. A session and its forks share one: a family is one trust domain. */
export interface Sandbox {
  /** The current worker. A new sandbox has one. */
  readonly worker: Worker;
  /** The working directory, as code inside sees it. */
  readonly folder: string;
  /**
   * Replaces the worker: with a copy of the checkpoint, else with an empty one. Waits until a worker that was killed is gone. Rejects if
   * there is no new one within the limit; after a few seconds, where none is given.
   */
  restart(from?: SandboxCheckpoint, limitMs?: number): Promise<Worker>;
  /** Copies the worker and the working directory. No code may be running. */
  fork?(ask: AskForFork): Promise<Sandbox>;
  /** Keeps a copy of the worker. No code may be running. `onEnd` is called once, when the copy has ended. */
  checkpoint?(ask: AskForFork, onEnd: () => void): Promise<SandboxCheckpoint>;
  /** Throws WorkerLostError where the sandbox has ended. */
  startJob(): Promise<Job>;
  /** Returns at once and reports to the listener. The program ends with the sandbox, not with the worker. */
  startProgram?(spec: ProgramSpec, listener: ProgramListener): Program;
  /** Null where the sandbox does not answer. */
  usage(): Promise<SandboxUsage | null>;
  /** Ends every process of the session and removes its files. Idempotent. */
  close(): Promise<void>;
}

/** Whole sentences for people, without a full stop. */
export interface StrongerTier {
  readonly why: string;
  readonly fix: string;
}

export interface EnvironmentReport {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** The kind of isolation. Null until a sandbox has been built. */
  readonly tier: string | null;
  /** What `tier` will be, where that is clear before anything is started. */
  readonly expectedTier?: string | undefined;
  /** What that kind does not stop, though the strongest does. */
  readonly notStopped: readonly string[];
  /** Optional mounts that were left out, and why: whole sentences. */
  readonly notMounted: readonly string[];
  /** Why no stronger kind can be built here, and how to get it. Null: it is the strongest, no other was tried, or it is not known yet. */
  readonly strongerTier: StrongerTier | null;
  /** That of sessions. Null until it is known. Its executable is null where it is no program of the machine. */
  readonly python: { readonly version: string; readonly executable: string | null } | null;
  readonly landlock: number | null;
  /** The version of the memory cgroup that each sandbox has. Null: none, or not known yet. */
  readonly cgroup: 1 | 2 | null;
  readonly preloaded: readonly string[];
  readonly user: number | null;
  /** The users of the machine that sessions get, one each, or why they share `user`. Null until it is known. */
  readonly users: UserRange | { readonly why: string } | null;
  /** Sandboxes that are ready for the next session. */
  readonly waiting: number;
}

/** A process of an environment has started or ended. */
export interface ProcessEvent {
  readonly type: "start" | "end";
  readonly kind: "fork-server" | "sandbox" | "worker" | "command";
  /** A fork server: its process id. Others: a number of the environment's own; those of a sandbox begin with its number. */
  readonly id: string;
  /** What is known of it, such as the version of Python or the exit code. Nothing of what it runs or prints. */
  readonly facts: Readonly<Record<string, string | number | boolean | null | undefined>>;
}

export interface EnvironmentOptions {
  /** An interpreter, the folder of a virtual environment, or a command name. Default: `python3` on the PATH. */
  readonly python: string | undefined;
  /** Modules to import before sessions start. Missing or broken ones are skipped. */
  readonly preload: readonly string[];
  /** How many sandboxes the pool holds. 0: there is no pool. */
  readonly poolSize: number;
  /** What pooled sandboxes are built with. A session with other options waits for a sandbox of its own. */
  readonly poolOptions: SandboxOptions;
  /** Ids that no account has, as users for sandboxes. Undefined: the environment chooses them. */
  readonly users?: UserRange | undefined;
  readonly docker?: DockerOptions;
  readonly wasm?: WasmOptions;
  /** Called with a line of text while something takes long. Default: ignored. */
  readonly onProgress?: (text: string) => void;
  /** Called when free memory of the machine has dropped notably, and again for some seconds. */
  readonly onLessMemory: () => void;
  /** Called when a process has started or ended. Default: ignored. */
  readonly onProcess?: (event: ProcessEvent) => void;
}

export interface Environment extends AsyncDisposable {
  readonly name: string;
  /** One object for all sessions. */
  readonly capabilities: Capabilities;
  /** As `report()` has it. */
  readonly tier: string | null;
  /** Starts ahead of time what the first sandbox would start, and fills the pool. */
  warm(): Promise<void>;
  /** A sandbox with a live worker, from the pool if one is ready. Throws EnvironmentUnavailableError with the reason. */
  openSandbox(options: SandboxOptions): Promise<Sandbox>;
  /** A hint that now is a good time to refill the pool. */
  refill(): void;
  report(): EnvironmentReport;
  close(): Promise<void>;
}
