// The kernels of a session, one at a time, in a sandbox that outlives them.
//
// After the loss of a worker the next one starts in the same sandbox, so that the files stay, or in a new one where the sandbox is gone or
// cannot start a worker. Until then `recovery` is pending.

import { missingCapability } from "../../environments/capabilities.ts";
import type {
  Environment,
  Sandbox,
  SandboxCheckpoint,
  SandboxOptions,
  SandboxUsage,
  WorkerExit,
} from "../../environments/environment.ts";
import { ForkRefusedError, WorkerLostError } from "../../errors.ts";
import type { WorkerCallHandler } from "../../kernel/bulk/worker-call.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { KernelListener } from "../../kernel/listeners.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { UserCodeQuestion } from "../../protocol/worker/host-messages.ts";
import type { StatusEvent } from "../../protocol/worker/worker-events.ts";
import type { StdlibState } from "../../protocol/sessions.ts";
import type { ActiveWork } from "../../util/async/active-work.ts";
import { deferred } from "../../util/async/deferred.ts";
import { Semaphore } from "../../util/async/semaphore.ts";
import { loadStdlib, NO_STDLIB, toUnreadable } from "./stdlib-loader.ts";

export interface KernelSettings {
  readonly id: SessionId;
  readonly environment: Environment;
  readonly sandboxOptions: SandboxOptions;
  /** Environment variables of the whole session. */
  readonly env: Readonly<Record<string, string>>;
  /** Links in the working directory, by name: where they lead. */
  readonly links: Readonly<Record<string, string>>;
  /** Relative to the working directory. Absent: the working directory itself. */
  readonly cwd: string | undefined;
  /** `sys.argv` of the session. Absent: as at a prompt. */
  readonly argv: readonly string[] | undefined;
  /** Reads the source of the standard library; undefined if there is none. May throw. Absent: none is wanted. */
  readonly readStdlib: (() => string | undefined) | undefined;
  readonly onCall: WorkerCallHandler;
  /** Of the whole runtime. */
  readonly activeWork: ActiveWork;
  readonly graceMs: number;
}

/** "timeout": no reply, because code holds the interpreter. "ended": the worker was ended for it. Undefined: the worker was lost. */
type InspectionReply = StatusEvent | "timeout" | "ended" | undefined;

interface InspectionLimits {
  /** For messages. */
  readonly action: string;
  readonly limitMs: number;
  readonly isRunning: () => boolean;
}

const RESTARTS = 3;
/** What code has in memory may be larger elsewhere: text grows in UTF-8. */
const MAX_GROWTH = 2;
/** Forking a large heap takes tens of milliseconds. */
const FORK_LIMIT_MS = 5_000;
/** Why code cannot start in a folder, by the name of Python's exception. */
const WHY_NOT_THERE: Readonly<Record<string, (cwd: string) => string>> = {
  FileNotFoundError: (cwd) => `there is no folder '${cwd}' in it. A folder of the host must be mounted`,
  NotADirectoryError: (cwd) => `its cwd '${cwd}' is not a folder`,
  PermissionError: (cwd) => `its cwd '${cwd}' may not be entered`,
};
const LOST: WorkerExit = { kind: "signal", signal: 9, reason: "timeout" };

export class Kernels {
  readonly #settings: KernelSettings;
  /** `onEnd` is called only for the current kernel, and not while another one is being started. */
  readonly #listener: KernelListener;
  #sandbox: Sandbox;
  #kernel: Kernel;
  /** Settles when the kernel has ended. */
  #over: Promise<void> | undefined;
  #recovery: Promise<boolean> | undefined;
  /** Set while the worker itself inspects something: settles when it has. */
  #inspecting: Promise<void> | undefined;
  readonly #inspections = new Semaphore(1, Infinity);
  /** False until the first kernel is ready: its loss is not reported to the listener. */
  #isOpen = true;
  /** Set while a copy of a checkpoint replaces the kernel: how the kernel ended, if it has. */
  #replacing: { exit?: WorkerExit } | undefined;
  #isClosed = false;
  #stdlib = NO_STDLIB;
  /** It killed a worker: the next ones do not load it. */
  #isStdlibFatal = false;

  private constructor(settings: KernelSettings, listener: KernelListener, sandbox: Sandbox) {
    this.#settings = settings;
    this.#listener = listener;
    this.#sandbox = sandbox;
    this.#kernel = this.#createKernel();
  }

  static async open(settings: KernelSettings, listener: KernelListener): Promise<Kernels> {
    const sandbox = await settings.environment.openSandbox(settings.sandboxOptions);
    const kernels = new Kernels(settings, listener, sandbox);
    kernels.#isOpen = false;
    try {
      await kernels.#configure();
      if (kernels.#isStdlibFatal) await kernels.#restart(LOST);
      kernels.#isOpen = true;
    } catch (error) {
      await kernels.close();
      throw error;
    }
    return kernels;
  }

  get current(): Kernel {
    return this.#kernel;
  }

  get sandbox(): Sandbox {
    return this.#sandbox;
  }

  /** The kernels of a fork of the session. */
  async fork(settings: KernelSettings, listener: KernelListener): Promise<Kernels> {
    const action = "fork the session";
    const sandbox = await this.#sandbox.fork?.((branch) => this.#requestFork(action, branch));
    if (sandbox === undefined) throw missingCapability(settings.environment, "fork", action);
    const kernels = new Kernels(settings, listener, sandbox);
    kernels.#stdlib = this.#stdlib;
    return kernels;
  }

  /** `onEnd` is called once, when the checkpoint is gone. */
  async checkpoint(onEnd: () => void): Promise<SandboxCheckpoint> {
    const action = "make a checkpoint";
    const checkpoint = await this.#sandbox.checkpoint?.((branch) => this.#requestFork(action, branch), onEnd);
    if (checkpoint === undefined) throw missingCapability(this.#settings.environment, "checkpoint", action);
    return checkpoint;
  }

  /** Restores the namespace of a checkpoint, which is kept. Nothing has changed if this rejects. */
  async rewind(checkpoint: SandboxCheckpoint, limitMs?: number): Promise<void> {
    const replacing: { exit?: WorkerExit } = {};
    this.#replacing = replacing;
    const { hasSurvivors } = this.#kernel;
    const over = this.#over;
    try {
      await this.#sandbox.restart(checkpoint, limitMs);
      this.#kernel = this.#createKernel();
    } catch (error) {
      if (replacing.exit !== undefined) this.#listener.onEnd(replacing.exit);
      throw error;
    } finally {
      this.#replacing = undefined;
    }
    if (hasSurvivors) await over; // its survivors could still write files
  }

  get stdlib(): StdlibState {
    return this.#stdlib;
  }

  /** Null: not known. */
  usage(): Promise<SandboxUsage | null> {
    return this.#sandbox.usage();
  }

  /** Resolves when there is a kernel again, to whether it was restored from a checkpoint. Undefined while there is one. */
  get recovery(): Promise<boolean> | undefined {
    return this.#recovery;
  }

  /** Settles when code can be started. Rejects where it never can. Undefined: now. */
  get untilReady(): Promise<unknown> | undefined {
    return this.#recovery ?? this.#inspecting;
  }

  /**
   * Sends a query that may run user code, as `Kernel.query`. Without the capability to do so while code runs, the worker itself runs it, and
   * no code is started meanwhile. Throws CapabilityMissingError where `isRunning`. If it does not answer within the limit it is ended and
   * replaced: "ended".
   */
  async inspect(
    question: UserCodeQuestion,
    { action, limitMs, isRunning }: InspectionLimits,
  ): Promise<InspectionReply> {
    const { environment } = this.#settings;
    if (environment.capabilities.inspectWhileRunning) return this.#kernel.query(question, limitMs);
    await this.#inspections.acquire();
    if (isRunning()) {
      this.#inspections.release();
      throw missingCapability(environment, "inspectWhileRunning", `${action} while code runs`);
    }
    const over = deferred();
    this.#inspecting = over.promise;
    try {
      const kernel = this.#kernel;
      const ended = this.#over;
      const reply = await kernel.query(question, limitMs);
      if (reply !== "timeout") return reply;
      kernel.kill("timeout");
      await ended;
      return "ended";
    } finally {
      this.#inspecting = undefined;
      over.resolve(); // code that waits starts before the next inspection
      this.#inspections.release();
    }
  }

  /** Empties the namespace. False: the worker was lost over it, which empties it, too. */
  async reset(): Promise<boolean> {
    const kernel = this.#kernel;
    if ((await kernel.request({ cmd: "reset" })) === undefined) return false;
    await this.#loadStdlib();
    return !kernel.ended;
  }

  /**
   * Starts the next kernel after this exit, from the checkpoint if there is one and can be restored within the limit. Resolves to whether
   * it is, as soon as that is known; `recovery` is pending for longer where it is not.
   */
  recover(exit: WorkerExit, from?: SandboxCheckpoint, limitMs?: number): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    const restored = deferred<boolean>();
    const recovery = this.#restart(exit, from, limitMs, (isRestored) => restored.resolve(isRestored)).finally(() => {
      if (this.#recovery === recovery) this.#recovery = undefined;
    });
    recovery.catch(() => {}); // reported to those who wait for it
    this.#recovery = recovery;
    return restored.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#recovery?.catch(() => {});
    await this.#sandbox.close();
  }

  async #restart(
    exit: WorkerExit,
    from?: SandboxCheckpoint,
    limitMs?: number,
    onDecided: (isRestored: boolean) => void = () => {},
  ): Promise<boolean> {
    const { environment, sandboxOptions, id } = this.#settings;
    const isSandboxAlive = exit.kind !== "sandbox-gone";
    const isRestored = isSandboxAlive && from !== undefined && (await succeeds(this.rewind(from, limitMs)));
    onDecided(isRestored);
    if (isRestored) return true;
    for (let attempt = 1; attempt <= RESTARTS && !this.#isClosed; attempt += 1) {
      const isRestarted = isSandboxAlive && attempt === 1 && (await succeeds(this.#sandbox.restart()));
      if (!isRestarted) {
        void this.#sandbox.close();
        this.#sandbox = await environment.openSandbox(sandboxOptions);
      }
      if (this.#isClosed) break;
      this.#kernel = this.#createKernel();
      await this.#configure();
      if (!this.#kernel.ended) return false;
    }
    if (this.#isClosed) return false;
    throw new WorkerLostError(`Cannot go on in session '${id}': ${RESTARTS} new workers ended at once`);
  }

  async #requestFork(action: string, branch: number): Promise<void> {
    const status = await this.#kernel.request({ cmd: "fork", branch }, { limitMs: FORK_LIMIT_MS });
    if (status === undefined) throw new WorkerLostError(`Cannot ${action}: its worker was lost`);
    if (status.error !== undefined) throw new ForkRefusedError({ action, why: status.error.value });
  }

  #createKernel(): Kernel {
    const { onCall, activeWork, graceMs, sandboxOptions } = this.#settings;
    const maxSpooledBytes = MAX_GROWTH * sandboxOptions.limits.memoryBytes;
    const over = deferred();
    this.#over = over.promise;
    const kernel: Kernel = new Kernel(
      this.#sandbox.worker,
      // A thread may call after its execution.
      { onCall: (call) => activeWork.during(() => onCall(call)), graceMs, maxSpooledBytes },
      {
        onBackground: (stream, chunk) => this.#listener.onBackground(stream, chunk),
        onEnd: (exit) => {
          over.resolve();
          if (kernel !== this.#kernel || !this.#isOpen || this.#recovery !== undefined || this.#isClosed) return;
          if (this.#replacing === undefined) this.#listener.onEnd(exit);
          else this.#replacing.exit = exit;
        },
      },
    );
    return kernel;
  }

  async #configure(): Promise<void> {
    const { id, env, links, cwd, argv } = this.#settings;
    const hasAny = [env, links].some((entries) => Object.keys(entries).length > 0);
    if (cwd !== undefined || argv !== undefined || hasAny) {
      const status = await this.#kernel.request({ cmd: "configure", env, links, cwd, argv });
      if (status?.error !== undefined) {
        const { name, value } = status.error;
        const why = cwd === undefined ? undefined : WHY_NOT_THERE[name]?.(cwd);
        throw new RangeError(`Cannot open session '${id}': ${why ?? (value || name)}`);
      }
    }
    await this.#loadStdlib();
  }

  async #loadStdlib(): Promise<void> {
    if (this.#isStdlibFatal || this.#kernel.ended) return;
    let source: string | undefined;
    try {
      source = this.#settings.readStdlib?.();
    } catch (error) {
      this.#stdlib = toUnreadable(error);
      return;
    }
    if (source === undefined && this.#stdlib === NO_STDLIB) return;
    this.#stdlib = await loadStdlib(this.#kernel, source);
    this.#isStdlibFatal = source !== undefined && this.#kernel.ended;
  }
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
