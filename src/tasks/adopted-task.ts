// A task for an execution or a run that already exists. It can be awaited and cancelled like a command, but not paused or written to.

import { TaskStateError } from "../errors.ts";
import type { OutputRange, OutputSlice } from "../output/output-slice.ts";
import type { SessionId, TaskId } from "../protocol/ids.ts";
import type { TaskInfo, TaskKind, TaskResult, TaskState, TaskStatus } from "../protocol/tasks.ts";
import { waitFor } from "../util/async/wait-for.ts";
import { isOver, toInfo, type TaskBase } from "./task.ts";

export abstract class AdoptedTask implements TaskBase {
  readonly id: TaskId;
  abstract readonly kind: TaskKind;
  abstract readonly sessionId: SessionId | null;
  abstract readonly command: string;
  abstract readonly result: Promise<TaskResult>;
  abstract readonly ended: Promise<void>;
  abstract readonly printed: { readonly total: number; readonly readable: number; close(): void };
  /** Used in error messages. */
  protected abstract readonly what: string;
  #end: { readonly status: TaskStatus; readonly why: string | null; readonly time: number } | undefined;

  constructor(id: TaskId) {
    this.id = id;
  }

  abstract output(range?: OutputRange): OutputSlice;
  abstract lastLine(): string;
  /** Does not wait for the end. */
  protected abstract stop(): void;
  protected abstract startedAt(): number;
  /** What differs between executions and runs. */
  protected abstract facts(): Pick<TaskState, "exitCode" | "usage"> & { readonly durationMs: number | undefined };

  get status(): TaskStatus {
    return this.#end?.status ?? "running";
  }

  get isOver(): boolean {
    return isOver(this.status);
  }

  get isGone(): boolean {
    return this.isOver;
  }

  info(): TaskInfo {
    return toInfo(this, this.state(), this.startedAt(), this.#end?.time);
  }

  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return this.isOver ? Promise.resolve(true) : waitFor(this.ended, timeoutMs, signal);
  }

  async cancel(): Promise<void> {
    this.stop();
    await this.ended;
  }

  pause(): Promise<never> {
    return this.#refuse("pause");
  }

  resume(): Promise<never> {
    return this.#refuse("resume");
  }

  write(): Promise<never> {
    return this.#refuse("write to");
  }

  closeInput(): void {}

  protected settle(status: TaskStatus, why: string | null): void {
    this.#end = { status, why, time: Math.max(Date.now(), this.startedAt()) };
  }

  protected state(): TaskState {
    const { exitCode, usage, durationMs = (this.#end?.time ?? Date.now()) - this.startedAt() } = this.facts();
    const why = this.#end?.why ?? null;
    return { sessionId: this.sessionId, status: this.status, exitCode, why, durationMs, usage, background: false };
  }

  async #refuse(action: string): Promise<never> {
    throw new TaskStateError({ action, taskId: this.id, why: `it is ${this.what}. Only shell commands allow that` });
  }
}
