// A place to run workers, with stated guarantees. One contract suite runs against every environment.

import type { OutputStream } from "../protocol/execution.ts";

/** A folder or file of the host that a sandbox sees, at its own path. */
export interface Mount {
  readonly path: string;
  readonly mode: "ro" | "rw";
}

/** What one sandbox may use. Enforced by the kernel per process, and for memory by a watch over the sum. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  /** Everything the sandbox writes: its working folder, /tmp and shared memory together. */
  readonly diskBytes: number;
  readonly processes: number;
  readonly openFiles: number;
  /** Forks and checkpoints that live in it beside the first session. */
  readonly branches: number;
}

export interface SandboxOptions {
  readonly mounts: readonly Mount[];
  readonly limits: SandboxLimits;
}

/** How a worker's process ended. `reason` is set when the sandbox ended it: what for. */
export type WorkerExit =
  | { readonly kind: "code"; readonly code: number; readonly reason: KillReason | null }
  | { readonly kind: "signal"; readonly signal: number; readonly reason: KillReason | null }
  | { readonly kind: "sandbox-gone" };

export type KillReason = "timeout" | "cancelled" | "memory" | "violation" | "closed";

/** What a worker sends up. Buffers are only valid during the call: copy what is kept. */
export interface WorkerListener {
  /** The first `length` bytes of a buffer. */
  onEvents(buffer: Buffer, length: number): void;
  onOutput(stream: OutputStream, chunk: Buffer): void;
  /** Output of pipes that were replaced by `renewStreams`. */
  onBackground(stream: OutputStream, chunk: Buffer): void;
  /** Called once, after the last byte of events and output. */
  onExit(exit: WorkerExit): void;
}

/** One worker process. All methods may be called at any time and do nothing once it has ended. */
export interface Worker {
  /** Must be called once, before anything is sent. */
  listen(listener: WorkerListener): void;
  /** To the main thread: one line, with its payload if any. */
  command(line: string, payload?: string | Uint8Array): void;
  /** Resolves when the worker has taken all commands, and bytes may be used again; or when it has ended. */
  commandTaken(): Promise<void>;
  /** To the listener thread. */
  aside(line: string, payload?: string): void;
  /** How much of what was sent aside the worker has not taken yet, in bytes. */
  readonly asideBacklog: number;
  /** Resolves when the worker has taken it, or has ended. */
  asideTaken(): Promise<void>;
  /** Resolves when the signal has been sent. */
  interrupt(): Promise<void>;
  /** Ends the worker and everything it started; the sandbox and its files stay. */
  kill(reason: KillReason): void;
  /** Turns the watch over the sandbox's memory on while code runs. */
  watch(on: boolean): void;
  /** Delivers at once what is in the output pipes now. */
  drain(): void;
  /** Sends the worker a new pair of output pipes; the old pair is background from now on. */
  renewStreams(): Promise<void>;
}

/** Makes the worker copy itself as this branch: resolves when it has, rejects with the reason why not. Its conversation is the kernel's. */
export type AskForFork = (branch: number) => Promise<void>;

/** What one session takes of the machine's memory now. */
export interface SandboxUsage {
  /** Its processes, checkpoints included; pages that several processes share count in part. */
  readonly memoryBytes: number;
  /** Its files, which are in memory too. A family's are divided among its sessions. */
  readonly diskBytes: number;
}

/** A frozen copy of a worker. */
export interface SandboxCheckpoint {
  /** It was released, or ended because the checkpoints of its session held too much memory. */
  readonly ended: boolean;
  release(): void;
}

/**
 * A short-lived process of ours behind the same walls, beside the worker: it never waits for it and does not end with it.
 * The first line it is sent says what to do. Whoever started it closes it; the end of the session does so too.
 */
export interface Job {
  /** Resolves when it is on its way, which is false once the job has ended. Waiting for it is how not to outrun the job. */
  write(data: string | Uint8Array): Promise<boolean>;
  /** What it says, until it has ended. May be asked for once; a slow reader slows the job. */
  output(): AsyncIterable<Buffer>;
  /** Resolves when its process is gone. */
  readonly ended: Promise<void>;
  /** Ends it: closes its pipes, so that it can tidy up, and kills it a second later. Idempotent. */
  close(): void;
}

/** What to run. */
export interface ProgramSpec {
  /** For bash. */
  readonly command: string;
  /** Relative to the sandbox's working directory, or absolute. */
  readonly cwd: string;
  /** On top of the environment that every process in the sandbox has. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether `write` is its standard input; otherwise that is empty. */
  readonly hasInput: boolean;
}

/** Of all its processes, the ended ones included. Peak: their memory together, as it was seen now and then; 0: too short to be seen. */
export interface ProgramUsage {
  readonly cpuMs: number;
  readonly peakBytes: number;
}

/** How the command ended. `isLeft`: processes that it started live on. */
export type ProgramExit =
  | { readonly kind: "code"; readonly code: number; readonly reason: KillReason | null; readonly isLeft: boolean }
  | { readonly kind: "signal"; readonly signal: number; readonly reason: KillReason | null; readonly isLeft: boolean }
  | { readonly kind: "not-started"; readonly why: string; readonly isLeft: false }
  | { readonly kind: "sandbox-gone"; readonly isLeft: false };

export interface ProgramListener {
  /** The chunk is only valid during the call. Also after the command has ended, for what it left running. */
  onOutput(stream: OutputStream, chunk: Buffer): void;
  /** Called once, after what the command itself printed. */
  onExit(exit: ProgramExit, usage: ProgramUsage): void;
  /** Called once, after `onExit`: no process of it is left, and nothing more is printed. */
  onGone(usage: ProgramUsage): void;
}

/** A command line in the sandbox with everything that it starts. Methods do nothing once all of that is gone. */
export interface Program {
  /** Resolves when it is on its way; false: nobody reads it. */
  write(data: string | Uint8Array): Promise<boolean>;
  /** The end of its input. */
  closeInput(): void;
  /** Holds every process; resolves when they stand still, or when it is gone. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Asks every process to end. */
  askToEnd(): void;
  /** Ends every process. */
  kill(): void;
  /** Null: it is gone. */
  measure(): Promise<ProgramUsage | null>;
}

/** The walls around one session. It outlives its workers. Forks of the session share them: a family is one trust domain. */
export interface Sandbox {
  /** The worker that lives now. A new sandbox has one. */
  readonly worker: Worker;
  /** The working directory, as code inside sees it. */
  readonly folder: string;
  /** Starts another worker and ends the old one if it lives: a copy of the checkpoint, or an empty one. */
  restart(from?: SandboxCheckpoint): Promise<Worker>;
  /** A copy of the worker in a copy of the working directory. Nothing may run. */
  fork(ask: AskForFork): Promise<Sandbox>;
  /** A copy of the worker that is kept. Nothing may run. `onEnd` is called once, when it is no more. */
  checkpoint(ask: AskForFork, onEnd: () => void): Promise<SandboxCheckpoint>;
  /** Throws WorkerLostError where the sandbox is gone. */
  startJob(): Promise<Job>;
  /** Returns at once; whatever becomes of it, the listener is told. It ends with the sandbox, not with the worker. */
  startProgram(spec: ProgramSpec, listener: ProgramListener): Program;
  /** Null: nobody answers. */
  usage(): Promise<SandboxUsage | null>;
  /** Ends every process of the session; its files are gone. Idempotent. */
  close(): Promise<void>;
}

export interface EnvironmentReport {
  readonly name: string;
  /** The kind of walls; `null` where none has been tried yet. */
  readonly tier: string | null;
  readonly python: { readonly version: string; readonly executable: string } | null;
  readonly landlock: number | null;
  readonly preloaded: readonly string[];
  readonly user: number | null;
  /** Sandboxes that are ready for the next session. */
  readonly waiting: number;
}

export interface Environment extends AsyncDisposable {
  readonly name: string;
  /** A sandbox with a live worker, from a pool when one is ready. Throws EnvironmentUnavailableError with the reason. */
  openSandbox(options: SandboxOptions): Promise<Sandbox>;
  /** Called when the machine has notably less memory than before, and for some seconds after that. */
  onLessMemory: () => void;
  /** A hint that a good moment has come to prepare another sandbox. */
  refill(): void;
  report(): EnvironmentReport;
  close(): Promise<void>;
}
