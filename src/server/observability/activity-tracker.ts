// What requests begin, whichever door they came through: told to whoever watches, with the request that began it.

import type { ExecutionResult } from "../../protocol/execution.ts";
import type { RunResult } from "../../protocol/runs.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Run } from "../../rlm/run.ts";
import type { ShellTask } from "../../tasks/shell-task.ts";

/** Of a WebSocket: the id of the request that became it. */
export type Origin = { readonly requestId: string } | { readonly connectionId: string };

export type Beginning = { readonly execution: Execution } | { readonly task: ShellTask } | { readonly run: Run };

export interface BegunWatcher {
  /** Undefined: the session could not run it. */
  executionEnded(execution: Execution, result: ExecutionResult | undefined, origin: Origin): void;
  taskStarted(task: ShellTask, origin: Origin): void;
  taskEnded(task: ShellTask, origin: Origin): void;
  runStarted(run: Run, origin: Origin): void;
  /** Undefined: it threw. */
  runEnded(run: Run, result: RunResult | undefined, origin: Origin): void;
}

export class Begun {
  /** Default: nobody. */
  watcher: BegunWatcher | undefined;

  /** Called once for each, when it has begun; its end is seen to. */
  note(beginning: Beginning, origin: Origin): void {
    if ("execution" in beginning) this.#noteExecution(beginning.execution, origin);
    else if ("task" in beginning) this.#noteTask(beginning.task, origin);
    else this.#noteRun(beginning.run, origin);
  }

  #noteExecution(execution: Execution, origin: Origin): void {
    execution.result.then(
      (result) => this.watcher?.executionEnded(execution, result, origin),
      () => this.watcher?.executionEnded(execution, undefined, origin),
    );
  }

  #noteTask(task: ShellTask, origin: Origin): void {
    this.watcher?.taskStarted(task, origin);
    void task.ended.then(() => this.watcher?.taskEnded(task, origin));
  }

  #noteRun(run: Run, origin: Origin): void {
    this.watcher?.runStarted(run, origin);
    run.result.then(
      (result) => this.watcher?.runEnded(run, result, origin),
      () => this.watcher?.runEnded(run, undefined, origin),
    );
  }
}
