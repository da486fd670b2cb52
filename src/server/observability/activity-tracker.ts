// Reports what requests start, over any interface, together with the request that started it.

import type { ExecutionResult } from "../../protocol/execution.ts";
import type { RunResult } from "../../protocol/runs.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Run } from "../../rlm/run.ts";
import type { ShellTask } from "../../tasks/shell-task.ts";

/** Of a WebSocket: the id of the request that was upgraded. */
export type ActivityOrigin = { readonly requestId: string } | { readonly connectionId: string };

export type Activity = { readonly execution: Execution } | { readonly task: ShellTask } | { readonly run: Run };

export interface ActivityObserver {
  /** Undefined: the session could not run it. */
  executionEnded(execution: Execution, result: ExecutionResult | undefined, origin: ActivityOrigin): void;
  taskStarted(task: ShellTask, origin: ActivityOrigin): void;
  taskEnded(task: ShellTask, origin: ActivityOrigin): void;
  runStarted(run: Run, origin: ActivityOrigin): void;
  /** Undefined: it threw. */
  runEnded(run: Run, result: RunResult | undefined, origin: ActivityOrigin): void;
}

export class ActivityTracker {
  observers: readonly Partial<ActivityObserver>[] = [];

  /** Called once for each activity, when it has started. Its end is reported, too. */
  track(activity: Activity, origin: ActivityOrigin): void {
    if ("execution" in activity) {
      const { execution } = activity;
      const end = (result?: ExecutionResult): void => {
        for (const observer of this.observers) observer.executionEnded?.(execution, result, origin);
      };
      execution.result.then(end, () => end());
    } else if ("task" in activity) {
      const { task } = activity;
      for (const observer of this.observers) observer.taskStarted?.(task, origin);
      const end = (): void => {
        for (const observer of this.observers) observer.taskEnded?.(task, origin);
      };
      void task.ended.then(end);
    } else {
      const { run } = activity;
      for (const observer of this.observers) observer.runStarted?.(run, origin);
      const end = (result?: RunResult): void => {
        for (const observer of this.observers) observer.runEnded?.(run, result, origin);
      };
      run.result.then(end, () => end());
    }
  }
}
