// The running and recently finished tasks of one runtime, by id.
//
// Finished tasks are kept for an hour, within limits on their number and output. A task whose command left processes running counts as
// finished, and is kept at least as long as they live, within the same limits. Running tasks keep the process alive.

import { IdReusedError, LimitExceededError, TaskNotFoundError } from "../errors.ts";
import type { OutputLimits } from "../output/output-log.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { ActiveWork } from "../util/async/active-work.ts";
import { type Adoptable, ExecutionTask } from "./execution-task.ts";
import { fingerprintOf, type ShellRequest } from "./fingerprint.ts";
import { type Followable, RunTask } from "./run-task.ts";
import { ShellTask, type ShellTaskSettings } from "./shell-task.ts";

export type Task = ShellTask | ExecutionTask | RunTask;

export interface TasksLimits {
  /** Running at once. */
  readonly running: number;
  /** Finished and kept. */
  readonly finished: number;
  /** The output of all finished tasks together, their commands and the events of runs included. */
  readonly finishedBytes: number;
  readonly keptMs: number;
  /** Of one run's progress report. */
  readonly output: OutputLimits;
}

export class Tasks {
  readonly #limits: TasksLimits;
  readonly #makeId: () => TaskId;
  readonly #activeWork: ActiveWork;
  readonly #running = new Set<Task>();
  /** In the order in which they ended, with the time. */
  readonly #finished = new Map<Task, number>();
  readonly #byId = new Map<string, Task>();
  /** Of commands whose callers chose an id. */
  readonly #fingerprints = new WeakMap<Task, string>();
  readonly #numbers = new WeakMap<Task, number>();
  #lastNumber = 0;
  readonly #adopted = new WeakMap<Adoptable, ExecutionTask>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(limits: TasksLimits, makeId: () => TaskId, activeWork: ActiveWork) {
    this.#limits = limits;
    this.#makeId = () => {
      let id: TaskId;
      do id = makeId();
      while (this.#byId.has(id)); // a caller may have chosen it
      return id;
    };
    this.#activeWork = activeWork;
  }

  /** Throws TaskNotFoundError. */
  get(id: string): Task {
    const task = this.#byId.get(id);
    if (task === undefined) throw new TaskNotFoundError({ taskId: id, known: [...this.#byId.keys()] });
    return task;
  }

  /** Later ones have larger numbers, also across restarts of the host. */
  numberOf(task: Task): number {
    return this.#numbers.get(task) ?? 0;
  }

  /** In the order in which they started. */
  list(): readonly Task[] {
    return [...this.#byId.values()];
  }

  /** The command that was started with this id. Undefined: none was. Throws IdReusedError where the id names other work. */
  started(id: string, request: ShellRequest): ShellTask | undefined {
    const task = this.#byId.get(id);
    if (task === undefined) return undefined;
    if (task.kind === "shell" && this.#fingerprints.get(task) === fingerprintOf(request)) return task;
    throw new IdReusedError({ id, kind: "task" });
  }

  /** With an id that is known: the task that it names. Throws IdReusedError, and LimitExceededError when too many run. */
  shell({
    id,
    ...settings
  }: Omit<ShellTaskSettings, "id" | "activeWork"> & { readonly id?: TaskId | undefined }): ShellTask {
    const known = id === undefined ? undefined : this.started(id, settings);
    if (known !== undefined) return known;
    this.#checkNotFull();
    const task = this.#add(new ShellTask({ ...settings, id: id ?? this.#makeId(), activeWork: this.#activeWork }));
    if (id !== undefined) this.#fingerprints.set(task, fingerprintOf(settings));
    return task;
  }

  /** A task for an execution, running or ended. The same one for the same execution. */
  adopt(execution: Adoptable): ExecutionTask {
    const known = this.#adopted.get(execution);
    if (known !== undefined && this.#byId.has(known.id)) return known;
    const task = this.#add(new ExecutionTask(this.#makeId(), execution));
    this.#adopted.set(execution, task);
    return task;
  }

  /** A task for a run. Throws LimitExceededError when too many tasks run; the run continues. */
  follow(run: Followable): RunTask {
    this.#checkNotFull();
    return this.#add(new RunTask(this.#makeId(), run, this.#limits.output));
  }

  /** The sessions are about to close, which ends their tasks. */
  announceEnd(why: string): void {
    for (const task of this.#running) if (task.kind === "shell") task.setEnding({ status: "cancelled", why });
  }

  /** Drops all output. The tasks ended with their sessions. */
  close(): void {
    clearTimeout(this.#sweeper);
    for (const task of this.#byId.values()) task.printed.close();
    this.#byId.clear();
    this.#running.clear();
    this.#finished.clear();
  }

  #checkNotFull(): void {
    const { running } = this.#limits;
    if (this.#running.size < running) return;
    throw new LimitExceededError({ what: "start another task", limit: "tasks", value: running });
  }

  #add<T extends Task>(task: T): T {
    this.#byId.set(task.id, task);
    this.#lastNumber = Math.max(this.#lastNumber + 1, Date.now() * 1000);
    this.#numbers.set(task, this.#lastNumber);
    this.#running.add(task);
    this.#activeWork.enter();
    void task.ended.then(() => this.#finish(task));
    return task;
  }

  #finish(task: Task): void {
    this.#activeWork.leave();
    if (!this.#running.delete(task)) return;
    this.#finished.set(task, Date.now());
    this.#sweep();
  }

  #sweep(): void {
    const { finished, finishedBytes, keptMs } = this.#limits;
    const now = Date.now();
    let total = 0; // recounted: processes left running may have printed more
    for (const task of this.#finished.keys()) total += sizeOf(task);
    for (const [task, endedAt] of this.#finished) {
      const isOld = now - endedAt >= keptMs && task.isGone;
      const isTooMuch = total > finishedBytes && this.#finished.size > 1;
      if (!isOld && !isTooMuch && this.#finished.size <= finished) continue;
      total -= sizeOf(task);
      this.#finished.delete(task);
      this.#byId.delete(task.id);
      task.printed.close();
    }
    clearTimeout(this.#sweeper);
    if (this.#finished.size > 0) this.#sweeper = setTimeout(() => this.#sweep(), this.#untilNext(now)).unref();
  }

  #untilNext(now: number): number {
    const [first = now] = this.#finished.values();
    return Math.max(1_000, this.#limits.keptMs - (now - first));
  }
}

function sizeOf(task: Task): number {
  const events = task.kind === "run" ? task.run.weight : 0;
  return task.printed.readable + task.command.length + events;
}
