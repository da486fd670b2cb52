// The kernels of a session, one after another, in a sandbox that outlives them.
//
// When a worker is lost the next one starts in the same sandbox, so the files stay; where the sandbox is gone, or will not
// have another worker, in a new one. Until then there is a recovery to wait for.

import type {
  Environment,
  Sandbox,
  SandboxCheckpoint,
  SandboxOptions,
  SandboxUsage,
  WorkerExit,
} from "../../environments/environment.ts";
import { ForkRefusedError, WorkerLostError } from "../../errors.ts";
import type { CallHandler } from "../../kernel/calls.ts";
import { Kernel, type KernelListener } from "../../kernel/kernel.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { StdlibState } from "../../protocol/sessions.ts";
import { loadStdlib, NO_STDLIB, toUnreadable } from "./stdlib-loader.ts";

export interface KernelSettings {
  readonly id: SessionId;
  readonly environment: Environment;
  readonly sandboxOptions: SandboxOptions;
  /** Environment variables of the whole session. */
  readonly env: Readonly<Record<string, string>>;
  /** Where code starts; relative to the working directory. Absent: the working directory itself. */
  readonly cwd: string | undefined;
  /** `sys.argv` of the session. Absent: as at a prompt. */
  readonly argv: readonly string[] | undefined;
  /** The source of the standard library as it is now; undefined where there is none. May throw. Absent: none is wanted. */
  readonly readStdlib: (() => string | undefined) | undefined;
  readonly onCall: CallHandler;
  readonly graceMs: number;
}

const RESTARTS = 3;
/** For the fork itself; a large heap takes tens of milliseconds. */
const FORK_LIMIT_MS = 5_000;
const LOST: WorkerExit = { kind: "signal", signal: 9, reason: "timeout" };

export class Kernels {
  readonly #settings: KernelSettings;
  /** Its `onEnd` is told of the kernel that is current; not while another is being started. */
  readonly #listener: KernelListener;
  #sandbox: Sandbox;
  #kernel: Kernel;
  /** Settles when the kernel has ended. */
  #over: Promise<void> | undefined;
  #recovery: Promise<boolean> | undefined;
  /** Nobody is told of a kernel that ends before the first one was ready. */
  #isOpen = true;
  /** While a copy of a checkpoint is on its way to take the kernel's place: how the kernel ended, if it has. */
  #replacing: { exit?: WorkerExit } | undefined;
  #isClosed = false;
  #stdlib = NO_STDLIB;
  /** A worker was lost over it: the next ones go without. */
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
      if (kernels.#isStdlibFatal) await kernels.#restart(LOST, undefined);
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

  /** What the current kernel's worker runs in. */
  get sandbox(): Sandbox {
    return this.#sandbox;
  }

  /** A copy of the session that these are the kernels of, for another one. */
  async fork(settings: KernelSettings, listener: KernelListener): Promise<Kernels> {
    const sandbox = await this.#sandbox.fork((branch) => this.#askForFork("fork the session", branch));
    const kernels = new Kernels(settings, listener, sandbox);
    kernels.#stdlib = this.#stdlib;
    return kernels;
  }

  /** `onEnd` is called once, when the checkpoint is no more. */
  checkpoint(onEnd: () => void): Promise<SandboxCheckpoint> {
    return this.#sandbox.checkpoint((branch) => this.#askForFork("make a checkpoint", branch), onEnd);
  }

  /** The namespace as it was at a checkpoint, which stays. When this rejects nothing has changed. */
  async rewind(checkpoint: SandboxCheckpoint): Promise<void> {
    const replacing: { exit?: WorkerExit } = {};
    this.#replacing = replacing;
    const { hasSurvivors } = this.#kernel;
    const over = this.#over;
    try {
      await this.#sandbox.restart(checkpoint);
      this.#kernel = this.#createKernel();
    } catch (error) {
      if (replacing.exit !== undefined) this.#listener.onEnd(replacing.exit);
      throw error;
    } finally {
      this.#replacing = undefined;
    }
    if (hasSurvivors) await over; // what it left running could still write files
  }

  get stdlib(): StdlibState {
    return this.#stdlib;
  }

  /** Null: nobody answers. */
  usage(): Promise<SandboxUsage | null> {
    return this.#sandbox.usage();
  }

  /**
   * Settles when there is a kernel again, with whether it has the state of a checkpoint; rejects with the reason why there
   * is none. Absent while there is one.
   */
  get recovery(): Promise<boolean> | undefined {
    return this.#recovery;
  }

  /** Empties the namespace. False: the worker was lost over it, so that it is empty all the same. */
  async reset(): Promise<boolean> {
    const kernel = this.#kernel;
    if ((await kernel.ask({ cmd: "reset" })) === undefined) return false;
    await this.#loadStdlib();
    return !kernel.ended;
  }

  /** Starts the kernel after the one that ended in this way: from a checkpoint where there is one, else empty. */
  recover(exit: WorkerExit, from?: SandboxCheckpoint): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    const recovery = this.#restart(exit, from).finally(() => {
      if (this.#recovery === recovery) this.#recovery = undefined;
    });
    recovery.catch(() => {}); // told to whoever waits for it
    this.#recovery = recovery;
    return recovery;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#recovery?.catch(() => {});
    await this.#sandbox.close();
  }

  async #restart(exit: WorkerExit, from: SandboxCheckpoint | undefined): Promise<boolean> {
    const { environment, sandboxOptions, id } = this.#settings;
    const isHere = exit.kind !== "sandbox-gone";
    if (isHere && from !== undefined && (await this.rewind(from).then(yes, no))) return true;
    for (let attempt = 1; attempt <= RESTARTS && !this.#isClosed; attempt += 1) {
      const isBack = isHere && attempt === 1 && (await this.#sandbox.restart().then(yes, no));
      if (!isBack) {
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

  async #askForFork(action: string, branch: number): Promise<void> {
    const status = await this.#kernel.ask({ cmd: "fork", branch }, { limitMs: FORK_LIMIT_MS });
    if (status === undefined) throw new WorkerLostError(`Cannot ${action}: its worker was lost`);
    if (status.error !== undefined) throw new ForkRefusedError({ action, why: status.error.value });
  }

  #createKernel(): Kernel {
    const { onCall, graceMs } = this.#settings;
    let onOver = (): void => {};
    this.#over = new Promise((resolve) => {
      onOver = resolve;
    });
    const kernel: Kernel = new Kernel(
      this.#sandbox.worker,
      { onCall, graceMs },
      {
        onBackground: (stream, chunk) => this.#listener.onBackground(stream, chunk),
        onEnd: (exit) => {
          onOver();
          if (kernel !== this.#kernel || !this.#isOpen || this.#recovery !== undefined || this.#isClosed) return;
          if (this.#replacing === undefined) this.#listener.onEnd(exit);
          else this.#replacing.exit = exit;
        },
      },
    );
    return kernel;
  }

  async #configure(): Promise<void> {
    const { id, env, cwd, argv } = this.#settings;
    if (cwd !== undefined || argv !== undefined || Object.keys(env).length > 0) {
      const status = await this.#kernel.ask({ cmd: "configure", env, cwd, argv });
      if (status?.error !== undefined) {
        throw new RangeError(`Cannot open session '${id}': ${status.error.value || status.error.name}`);
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

function yes(): boolean {
  return true;
}

function no(): boolean {
  return false;
}
