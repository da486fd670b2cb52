// How a task stands. A command that ended by itself with an exit code other than 0 is marked as an error, by that code.

import type { VNode } from "preact";
import type { TaskInfo } from "rlm-runtime/client";
import { Status } from "../parts/feedback/status.tsx";
import { lookOf } from "../state/tasks/task-look.ts";

export function TaskStatus({ task }: { readonly task: Pick<TaskInfo, "status" | "exitCode"> }): VNode {
  const { state, word } = lookOf(task);
  return <Status state={state} word={word} />;
}
