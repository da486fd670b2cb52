// The shell tasks that live in the sandbox of a session. While there are any, the session is in use.

import { missingCapability } from "../environments/capabilities.ts";
import type { Environment } from "../environments/environment.ts";
import { SessionClosedError } from "../errors.ts";
import type { SessionId } from "../protocol/ids.ts";
import type { ShellTask, TaskPlace } from "../tasks/shell-task.ts";
import type { KernelSettings } from "./kernels/kernels.ts";
import type { Runner } from "./execution/runner.ts";

export class SessionTasks {
  readonly #id: SessionId;
  readonly #settings: KernelSettings;
  readonly #runner: Runner;
  /** Those that have processes, or wait for the sandbox. */
  readonly #live = new Set<ShellTask>();
  #lastUsedAt = 0;

  constructor(settings: KernelSettings, runner: Runner) {
    this.#id = settings.id;
    this.#settings = settings;
    this.#runner = runner;
  }

  get environment(): Environment {
    return this.#settings.environment;
  }

  get isAny(): boolean {
    return this.#live.size > 0;
  }

  /** Now, while there is one. */
  get lastUsedAt(): number {
    return this.isAny ? Date.now() : this.#lastUsedAt;
  }

  /** Where a task runs. Throws SessionClosedError; rejects where there is no sandbox any more. */
  async enter(task: ShellTask): Promise<TaskPlace> {
    this.#runner.checkOpen();
    this.#live.add(task);
    const release = (): void => {
      this.#live.delete(task);
      this.#lastUsedAt = Date.now();
    };
    try {
      await this.#runner.kernels.recovery;
      if (this.#runner.state === "closed") throw new SessionClosedError({ sessionId: this.#id, why: "it was closed" });
      const { cwd = "", env } = this.#settings;
      const { sandbox } = this.#runner.kernels;
      const start = sandbox.startProgram?.bind(sandbox);
      if (start === undefined) throw missingCapability(this.environment, "shell", "run a shell command");
      return { start, cwd, env, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The session begins to close, which ends them. */
  foretellEnd(why: string): void {
    for (const task of this.#live) task.foretell({ status: "cancelled", why: `session '${this.#id}' ended: ${why}` });
  }

  /** Ends all of them, because of the memory they take. False: there are none. */
  relieve(why: string): boolean {
    for (const task of this.#live) void task.stop({ status: "failed", why });
    return this.isAny;
  }
}
