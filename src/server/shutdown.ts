// Graceful shutdown: nothing new starts, running work gets a grace period, and the rest is interrupted, so that waiting clients get a
// result.

import type { Runtime } from "../runtime.ts";
import type { ShellTask } from "../tasks/shell-task.ts";
import { withTimeout } from "../util/async/with-timeout.ts";
import type { ServerContext } from "./context/server-context.ts";
import type { HTTPListener } from "./net/listen.ts";

/** An interrupt that has no effect ends the worker after two seconds. */
const INTERRUPT_MS = 5_000;
/** Time for results and last events to be sent before open streams are ended. */
const FLUSH_MS = 500;
/** Remaining connections are closed after this time. */
const CLOSE_MS = 2_000;

export class Shutdown {
  readonly #draining = new AbortController();
  readonly #closing = new AbortController();

  /** For the server context. */
  get signals(): Pick<ServerContext, "draining" | "closing"> {
    return { draining: this.#draining.signal, closing: this.#closing.signal };
  }

  /**
   * Resolves when the server no longer listens and all connections are closed. It listens during the grace period, so that clients can
   * fetch results and check its health. The caller closes the runtime afterwards.
   */
  async run(
    { runtime, executions }: Pick<ServerContext, "runtime" | "executions">,
    listening: HTTPListener,
    graceMs: number,
  ) {
    this.#draining.abort();
    listening.drain();
    await withTimeout(graceMs, Promise.allSettled([executions.idle(), runtime.runs.idle(), tasksEnded(runtime)]));
    const cancelled = [executions.cancelAll(), runtime.runs.cancelAll(), cancelTasks(runtime)];
    await withTimeout(INTERRUPT_MS, Promise.allSettled(cancelled));
    const closed = listening.close(CLOSE_MS);
    await withTimeout(FLUSH_MS, closed);
    this.#closing.abort();
    await closed;
  }
}

/** Paused tasks would never end. */
async function tasksEnded(runtime: Runtime): Promise<void> {
  const running = liveTasks(runtime).filter(({ status }) => status === "running");
  await Promise.allSettled(running.map(({ ended }) => ended));
}

async function cancelTasks(runtime: Runtime): Promise<void> {
  await Promise.allSettled(liveTasks(runtime).map((task) => task.cancel()));
}

function liveTasks({ tasks }: Runtime): readonly ShellTask[] {
  return tasks.list().filter((task): task is ShellTask => task.kind === "shell" && !task.isOver);
}
