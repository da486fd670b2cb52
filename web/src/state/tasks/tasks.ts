// The tasks of the server: read again and again while somebody looks.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { Runtime, TaskInfo } from "rlm-runtime/client";
import { usePolling } from "../use-polling.ts";

/** A long list is read less often. */
const POLL_MS = 1_500;
const POLL_MS_EACH = 5;
const PAGE = 1_000;
/** The server keeps as many that have ended, and some hundred that run. */
const MAX_TASKS = 5_000;

export type TaskFilter = "all" | "running" | "ended";

export class TaskList {
  readonly #runtime: Runtime;
  readonly #tasks = signal<readonly TaskInfo[] | undefined>(undefined);

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** The latest first. Undefined: not known yet. */
  get tasks(): ReadonlySignal<readonly TaskInfo[] | undefined> {
    return this.#tasks;
  }

  async refresh(): Promise<void> {
    const found: TaskInfo[] = [];
    let after: string | undefined;
    do {
      const page = await this.#runtime.tasks.list({ limit: PAGE, after });
      found.push(...page.items);
      after = page.next ?? undefined;
    } while (after !== undefined && found.length < MAX_TASKS);
    this.#tasks.value = found.toReversed();
  }

  /** The ids of the sessions that a command may run in. */
  async sessionIds(): Promise<readonly string[]> {
    const { items } = await this.#runtime.sessions.list({ limit: PAGE });
    return items.map(({ id }) => id);
  }

  /** Resolves to its id, once the server has it. */
  async start({ command, ...options }: TaskRequest): Promise<string> {
    const task = this.#runtime.shell(command, options);
    await task.info();
    void this.refresh();
    return task.id;
  }
}

export interface TaskRequest {
  readonly command: string;
  /** Undefined: the session called `default`. */
  readonly session?: string | undefined;
  readonly cwd?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly stdin: "none" | "open";
}

/** Reads the list while the component is shown. */
export function useTaskList(list: TaskList): void {
  usePolling(
    () => list.refresh(),
    () => POLL_MS + POLL_MS_EACH * (list.tasks.value?.length ?? 0),
  );
}

export function hasEnded({ status }: Pick<TaskInfo, "status">): boolean {
  return status !== "running" && status !== "paused";
}

/** `words` are looked for in the id, the command and the session. */
export function filterTasks(tasks: readonly TaskInfo[], filter: TaskFilter, words: string): readonly TaskInfo[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return tasks.filter((task) => {
    if (filter !== "all" && hasEnded(task) !== (filter === "ended")) return false;
    const text = `${task.id} ${task.command} ${task.sessionId ?? ""}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
