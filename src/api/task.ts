// Tasks as callers see them: shell commands, and executions and runs that outlived their calls.

import type { ExecutionEvent } from "../protocol/events.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { TaskEvent, TaskInfo, TaskResult, TaskStatus } from "../protocol/tasks.ts";
import type { OutputRange, OutputSlice } from "./execution.ts";
import type { Page, PageOptions } from "./page.ts";
import type { Signal } from "./web-types.ts";

/**
 * A shell command. Await it for its result, or iterate it for its events; both work at any time, and any number of times. It never rejects
 * because of what the command did. It rejects where the command could not be given to a session at all.
 */
export interface Task<Event = TaskEvent> extends Promise<TaskResult>, AsyncIterable<Event> {
  /** For `runtime.tasks.get`. */
  readonly id: TaskId;
  /** Its state now. */
  info(): Promise<TaskInfo>;
  /** What it printed, from a byte offset. */
  output(range?: OutputRange): Promise<OutputSlice>;
  /** Whether it ended within the time. Aborting the signal rejects the wait with its reason; the task goes on. */
  wait(timeoutMs: number, options?: { readonly signal?: Signal | undefined }): Promise<boolean>;
  /** Ends all of its processes. Resolves when they are gone. */
  cancel(): Promise<void>;
  /** Pauses all of its processes. Rejects with a TaskStateError if it cannot be paused. */
  pause(): Promise<void>;
  /** Continues it. */
  resume(): Promise<void>;
  /** Writes to its standard input. Rejects with a TaskStateError if nothing reads it. */
  write(data: string | Uint8Array): Promise<void>;
  /** Ends its standard input. */
  closeInput(): Promise<void>;
}

/** A task that was found by its id: it has the events of a command, an execution or a run. */
export type AnyTask = Task<TaskEvent | ExecutionEvent | RunEvent>;

/** Options of a shell command. */
export interface ShellOptions {
  /** The id of the task; letters, digits, `.`, `_`, `-`, at most 128. The same id is the same work. Default: generated. */
  readonly id?: string | undefined;
  /** Where it starts, relative to the session's working directory. Default: there. */
  readonly cwd?: string | undefined;
  /** Environment variables for this command only. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Running time without pauses. Null or Infinity: no limit, which is the default. */
  readonly timeoutMs?: number | null | undefined;
  /** Standard input: none, `write()` while it runs (`"open"`), or fixed content. Default: `"none"`. */
  readonly stdin?: "none" | "open" | FixedInput | undefined;
  /** Aborting cancels it. */
  readonly signal?: Signal | undefined;
}

/** Standard input that is known at the start. */
export type FixedInput =
  | {
      /** As UTF-8. */
      readonly text: string;
    }
  | {
      /** As it is. */
      readonly bytes: Uint8Array;
    };

/** Tasks by id: running ones, and those that ended recently. */
export interface Tasks {
  /** Returns at once. Awaiting or iterating it rejects with a TaskNotFoundError if there is none, or it is no longer kept. */
  get(id: string): AnyTask;
  /** In the order in which they started. */
  list(options?: TaskListOptions): Promise<Page<TaskInfo>>;
}

/** Which tasks to list. */
export interface TaskListOptions extends PageOptions {
  /** Default: any. */
  readonly status?: TaskStatus | undefined;
  /** Default: of all sessions. */
  readonly sessionId?: string | undefined;
}
