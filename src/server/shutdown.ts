// The end of a server, so that nobody is left in the dark: nothing new begins, what runs has a while to end, what is left is interrupted
// and whoever waits for it is told.

import type { Runtime } from "../runtime.ts";
import type { ShellTask } from "../tasks/shell-task.ts";
import { within } from "../util/async/with-timeout.ts";
import type { ServerContext } from "./context/server-context.ts";
import type { HTTPListener } from "./net/listen.ts";

/** An interrupt that has no effect ends the worker after two seconds. */
const INTERRUPT_MS = 5_000;
/** Results and last events are on their way for so long, before streams that would go on are ended. */
const TELL_MS = 500;
/** Connections that are left by then are cut. */
const CLOSE_MS = 2_000;

export class Shutdown {
  readonly #draining = new AbortController();
  readonly #closing = new AbortController();

  /** For the context. */
  get signals(): Pick<ServerContext, "draining" | "closing"> {
    return { draining: this.#draining.signal, closing: this.#closing.signal };
  }

  /**
   * Resolves when nothing listens and no connection is left. The server goes on listening during the grace, so that results can be
   * fetched and health asked for. The runtime is closed by whoever opened it, afterwards.
   */
  async run(
    { runtime, executions }: Pick<ServerContext, "runtime" | "executions">,
    listening: HTTPListener,
    graceMs: number,
  ) {
    this.#draining.abort();
    listening.drain();
    await within(graceMs, Promise.allSettled([executions.idle(), runtime.runs.idle(), tasksEnded(runtime)]));
    const cancelled = [executions.cancelAll(), runtime.runs.cancelAll(), cancelTasks(runtime)];
    await within(INTERRUPT_MS, Promise.allSettled(cancelled));
    const closed = listening.close(CLOSE_MS);
    await within(TELL_MS, closed);
    this.#closing.abort();
    await closed;
  }
}

/** Those that are paused would wait for ever. */
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
