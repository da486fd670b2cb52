// An execution that outlived its call, under a task id.
//
// Its output stays readable when the session has dropped it or has ended.

import type { OutputRange, OutputSlice } from "../output/output-slice.ts";
import type { FollowOptions, Positioned } from "../util/async/replay-log.ts";
import type { ExecutionEvent } from "../protocol/events.ts";
import type { ExecutionResult } from "../protocol/execution.ts";
import type { SessionId, TaskId } from "../protocol/ids.ts";
import type { TaskResult, TaskStatus } from "../protocol/tasks.ts";
import { AdoptedTask } from "./adopted-task.ts";

/** What a task needs of an execution. */
export interface Adoptable extends AsyncIterable<ExecutionEvent> {
  readonly sessionId: SessionId;
  readonly code: string;
  readonly startedAt: number | undefined;
  readonly result: Promise<ExecutionResult>;
  readonly printed: { readonly total: number; readonly readable: number; hold(): void; close(): void };
  follow(options?: FollowOptions): AsyncGenerator<Positioned<ExecutionEvent>, void, undefined>;
  output(range?: OutputRange): OutputSlice;
  lastLine(): string;
  cancel(): void;
}

export class ExecutionTask extends AdoptedTask implements AsyncIterable<ExecutionEvent> {
  readonly kind = "execution";
  readonly execution: Adoptable;
  readonly result: Promise<TaskResult>;
  readonly ended: Promise<void>;
  protected readonly what = "Python code";
  readonly #adoptedAt = Date.now();
  #outcome: ExecutionResult | undefined;

  /** Use `Tasks.adopt`. */
  constructor(id: TaskId, execution: Adoptable) {
    super(id);
    this.execution = execution;
    execution.printed.hold();
    this.ended = execution.result.then(
      (result) => this.#take(result),
      (error: Error) => this.settle("failed", error.message),
    );
    this.result = this.ended.then(() => this.#toResult());
  }

  get sessionId(): SessionId {
    return this.execution.sessionId;
  }

  get command(): string {
    return this.execution.code;
  }

  get printed(): Adoptable["printed"] {
    return this.execution.printed;
  }

  [Symbol.asyncIterator](): AsyncIterator<ExecutionEvent> {
    return this.execution[Symbol.asyncIterator]();
  }

  follow(options?: FollowOptions): AsyncGenerator<Positioned<ExecutionEvent>, void, undefined> {
    return this.execution.follow(options);
  }

  output(range?: OutputRange): OutputSlice {
    return this.execution.output(range);
  }

  lastLine(): string {
    return this.execution.lastLine();
  }

  protected override stop(): void {
    this.execution.cancel();
  }

  protected override startedAt(): number {
    return this.execution.startedAt ?? this.#adoptedAt;
  }

  protected override facts() {
    const { exitCode = null, usage = NO_USAGE, durationMs } = this.#outcome ?? {};
    return { exitCode, usage, durationMs };
  }

  #take(result: ExecutionResult): void {
    this.#outcome = result;
    const status = toStatus(result);
    this.settle(status, status === "completed" ? null : (result.error?.value ?? null) || (result.reason ?? null));
  }

  #toResult(): TaskResult {
    const { stdout = "", stderr = "", truncated = null } = this.#outcome ?? {};
    return { taskId: this.id, ...this.state(), stdout, stderr, truncated };
  }
}

const NO_USAGE = { cpuMs: 0, peakMemoryBytes: 0 };

function toStatus({ status, reason }: ExecutionResult): TaskStatus {
  if (status !== "interrupted") return "completed";
  if (reason === "timeout") return "timed-out";
  return reason === "cancelled" ? "cancelled" : "failed";
}
