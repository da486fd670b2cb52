// An execution that outlived its call, under an id by which it can be found again.
//
// It keeps what the execution printed readable, also when the session has forgotten it or is no more.

import { TaskStateError } from "../errors.ts";
import type { OutputRange, OutputSlice } from "../output/output-slice.ts";
import type { ExecutionEvent } from "../protocol/events.ts";
import type { ExecutionResult } from "../protocol/execution.ts";
import type { SessionId, TaskId } from "../protocol/ids.ts";
import type { TaskInfo, TaskResult, TaskStatus } from "../protocol/tasks.ts";
import { isOver, toExcerpt, waitFor, type TaskBase } from "./task.ts";

/** What a task needs of an execution. */
export interface Adoptable extends AsyncIterable<ExecutionEvent> {
  readonly sessionId: SessionId;
  readonly code: string;
  readonly startedAt: number | undefined;
  readonly result: Promise<ExecutionResult>;
  readonly printed: { readonly total: number; readonly readable: number; hold(): void; close(): void };
  output(range?: OutputRange): OutputSlice;
  lastLine(): string;
  cancel(): void;
}

export class ExecutionTask implements TaskBase, AsyncIterable<ExecutionEvent> {
  readonly kind = "execution";
  readonly id: TaskId;
  readonly execution: Adoptable;
  readonly result: Promise<TaskResult>;
  readonly ended: Promise<void>;
  readonly #adoptedAt = Date.now();
  #status: TaskStatus = "running";
  #outcome: ExecutionResult | undefined;
  #why: string | null = null;
  #endedAt: number | undefined;

  /** Use `Tasks.adopt`. */
  constructor(id: TaskId, execution: Adoptable) {
    this.id = id;
    this.execution = execution;
    execution.printed.hold();
    this.ended = execution.result.then(
      (result) => this.#settle(result),
      (error: Error) => this.#fail(error),
    );
    this.result = this.ended.then(() => this.#toResult());
  }

  get sessionId(): SessionId {
    return this.execution.sessionId;
  }

  get command(): string {
    return this.execution.code;
  }

  get status(): TaskStatus {
    return this.#status;
  }

  get isOver(): boolean {
    return isOver(this.#status);
  }

  get isGone(): boolean {
    return this.isOver;
  }

  get printed(): Adoptable["printed"] {
    return this.execution.printed;
  }

  [Symbol.asyncIterator](): AsyncIterator<ExecutionEvent> {
    return this.execution[Symbol.asyncIterator]();
  }

  info(): TaskInfo {
    return {
      id: this.id,
      kind: this.kind,
      command: toExcerpt(this.command),
      startedAt: new Date(this.#startedAt()).toISOString(),
      endedAt: this.#endedAt === undefined ? null : new Date(this.#endedAt).toISOString(),
      outputBytes: this.printed.total,
      ...this.#state(),
    };
  }

  output(range?: OutputRange): OutputSlice {
    return this.execution.output(range);
  }

  lastLine(): string {
    return this.execution.lastLine();
  }

  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return this.isOver ? Promise.resolve(true) : waitFor(this.ended, timeoutMs, signal);
  }

  async cancel(): Promise<void> {
    this.execution.cancel();
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

  #settle(result: ExecutionResult): void {
    this.#outcome = result;
    this.#endedAt = Math.max(Date.now(), this.#startedAt());
    this.#status = toStatus(result);
    this.#why = this.#status === "completed" ? null : (result.error?.value ?? null) || (result.reason ?? null);
  }

  #fail(error: Error): void {
    this.#endedAt = Date.now();
    this.#status = "failed";
    this.#why = error.message;
  }

  #startedAt(): number {
    return this.execution.startedAt ?? this.#adoptedAt;
  }

  #state(): Omit<TaskResult, "taskId" | "stdout" | "stderr" | "truncated"> {
    return {
      sessionId: this.sessionId,
      status: this.#status,
      exitCode: this.#outcome?.exitCode ?? null,
      why: this.#why,
      durationMs: this.#outcome?.durationMs ?? (this.#endedAt ?? Date.now()) - this.#startedAt(),
      usage: this.#outcome?.usage ?? { cpuMs: 0, peakMemoryBytes: 0 },
      background: false,
    };
  }

  #toResult(): TaskResult {
    const { stdout = "", stderr = "", truncated = null } = this.#outcome ?? {};
    return { taskId: this.id, ...this.#state(), stdout, stderr, truncated };
  }

  async #refuse(action: string): Promise<never> {
    throw new TaskStateError({ action, taskId: this.id, why: "it is Python code. Only shell commands allow that" });
  }
}

function toStatus({ status, reason }: ExecutionResult): TaskStatus {
  if (status !== "interrupted") return "completed";
  if (reason === "timeout") return "timed-out";
  return reason === "cancelled" ? "cancelled" : "failed";
}
