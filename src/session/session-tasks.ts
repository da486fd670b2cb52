// The shell tasks in the sandbox of a session, which keep it alive.

import { missingCapability } from "../environments/capabilities.ts";
import type { Environment } from "../environments/environment.ts";
import type { SandboxLease, ShellTask } from "../tasks/shell-task.ts";
import type { KernelSettings } from "./kernels/kernels.ts";
import type { Executor } from "./execution/executor.ts";

export class SessionTasks {
  readonly #settings: KernelSettings;
  readonly #executor: Executor;
  /** Tasks that have processes, or wait for the sandbox. */
  readonly #live = new Set<ShellTask>();

  constructor(settings: KernelSettings, executor: Executor) {
    this.#settings = settings;
    this.#executor = executor;
  }

  get environment(): Environment {
    return this.#settings.environment;
  }

  get hasAny(): boolean {
    return this.#live.size > 0;
  }

  /** The sandbox for a task. Throws SessionClosedError; rejects when the sandbox is lost. */
  async lease(task: ShellTask): Promise<SandboxLease> {
    this.#executor.checkOpen();
    this.#live.add(task);
    const { keepAlive } = this.#executor;
    keepAlive.enter();
    const release = (): void => {
      if (this.#live.delete(task)) keepAlive.leave();
    };
    try {
      await this.#executor.kernels.recovery;
      this.#executor.checkOpen();
      const { cwd = "", env } = this.#settings;
      const { sandbox } = this.#executor.kernels;
      const start = sandbox.startProgram?.bind(sandbox);
      if (start === undefined) throw missingCapability(this.environment, "shell", "run a shell command");
      return { start, cwd, env, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The session is about to close, which ends its tasks. */
  announceEnd(why: string): void {
    for (const task of this.#live)
      task.setEnding({ status: "cancelled", why: `session '${this.#settings.id}' ended: ${why}` });
  }

  /** Ends all tasks to free memory. False: there are none. */
  stopAll(why: string): boolean {
    for (const task of this.#live) void task.stop({ status: "failed", why });
    return this.hasAny;
  }
}
