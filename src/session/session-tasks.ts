// The shell tasks that live in the sandbox of a session. While there are any, the session is in use.

import { SessionClosedError } from "../errors.ts";
import type { SessionId } from "../protocol/ids.ts";
import type { ShellTask, TaskPlace } from "../tasks/shell-task.ts";
import type { KernelSettings } from "./kernels/kernels.ts";
import type { Executor } from "./execution/executor.ts";

export class SessionTasks {
  readonly #id: SessionId;
  readonly #settings: KernelSettings;
  readonly #executor: Executor;
  /** Those that have processes, or wait for the sandbox. */
  readonly #live = new Set<ShellTask>();

  constructor(settings: KernelSettings, executor: Executor) {
    this.#id = settings.id;
    this.#settings = settings;
    this.#executor = executor;
  }

  get isAny(): boolean {
    return this.#live.size > 0;
  }

  /** Where a task runs. Throws SessionClosedError; rejects where there is no sandbox any more. */
  async enter(task: ShellTask): Promise<TaskPlace> {
    this.#executor.checkOpen();
    this.#live.add(task);
    const { keepAlive } = this.#executor;
    keepAlive.enter();
    const release = (): void => {
      if (this.#live.delete(task)) keepAlive.leave();
    };
    try {
      await this.#executor.kernels.recovery;
      if (this.#executor.state === "closed")
        throw new SessionClosedError({ sessionId: this.#id, why: "it was closed" });
      const { cwd = "", env } = this.#settings;
      return { sandbox: this.#executor.kernels.sandbox, cwd, env, release };
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
