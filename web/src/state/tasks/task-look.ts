// The mark and the word for how a task stands.
//
// `completed` says that a command ended by itself, not that it did what it should. Its exit code says that.

import type { TaskInfo } from "rlm-runtime/client";

export interface TaskLook {
  /** The state whose shape and colour it has. */
  readonly state: string;
  /** Undefined: the word of the state. */
  readonly word: string | undefined;
}

export function lookOf({ status, exitCode }: Pick<TaskInfo, "status" | "exitCode">): TaskLook {
  const hasFailed = status === "completed" && exitCode !== null && exitCode !== 0;
  return hasFailed ? { state: "failed", word: `exit ${exitCode}` } : { state: status, word: undefined };
}
