// A run under a task id.
//
// Its output is a progress report: a line for each step and the whole answer at the end, so that a long answer can be read by offset.

import type { OutputLimits } from "../output/output-log.ts";
import { toSlice, type OutputRange, type OutputSlice } from "../output/output-slice.ts";
import { PrintedOutput } from "../output/printed-output.ts";
import type { FollowOptions, Positioned } from "../util/async/replay-log.ts";
import type { RunId, TaskId } from "../protocol/ids.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { RunResult, RunStatus } from "../protocol/runs.ts";
import type { TaskResult, TaskStatus } from "../protocol/tasks.ts";
import { AdoptedTask } from "./adopted-task.ts";
import { RunProgress } from "./run-progress.ts";

/** What a task needs of a run. */
export interface Followable extends AsyncIterable<RunEvent> {
  readonly id: RunId;
  readonly settings: { readonly query: string };
  readonly result: Promise<RunResult>;
  /** The approximate number of characters in its events. */
  readonly weight: number;
  follow(options?: FollowOptions): AsyncGenerator<Positioned<RunEvent>, void, undefined>;
  cancel(): void;
}

export class RunTask extends AdoptedTask implements AsyncIterable<RunEvent> {
  readonly kind = "run";
  readonly sessionId = null;
  readonly run: Followable;
  readonly result: Promise<TaskResult>;
  readonly ended: Promise<void>;
  readonly printed: PrintedOutput;
  protected readonly what = "a run";
  readonly #progress = new RunProgress();
  readonly #startedAt = Date.now();
  #answerOffset = 0;

  /** Use `Tasks.follow`. */
  constructor(id: TaskId, run: Followable, limits: OutputLimits) {
    super(id);
    this.run = run;
    this.printed = new PrintedOutput(limits);
    this.ended = this.#follow();
    this.result = this.ended.then(() => this.#toResult());
  }

  get command(): string {
    return this.run.settings.query;
  }

  /** Where the answer begins in the output. */
  get answerOffset(): number {
    return this.#answerOffset;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.run[Symbol.asyncIterator]();
  }

  follow(options?: FollowOptions): AsyncGenerator<Positioned<RunEvent>, void, undefined> {
    return this.run.follow(options);
  }

  output(range: OutputRange = {}): OutputSlice {
    return toSlice(this.printed.of(range.stream ?? "stdout"), range);
  }

  /** What it is doing now. */
  lastLine(): string {
    return this.#progress.current;
  }

  protected override stop(): void {
    this.run.cancel();
  }

  protected override startedAt(): number {
    return this.#startedAt;
  }

  protected override facts() {
    return { exitCode: null, usage: { cpuMs: 0, peakMemoryBytes: 0 }, durationMs: undefined };
  }

  async #follow(): Promise<void> {
    for await (const event of this.run) {
      const line = this.#progress.update(event);
      if (line !== undefined) this.#print(`${line}\n`);
    }
    try {
      const { status, answer, why } = await this.run.result;
      if (answer !== null) this.#print("Answer:\n");
      this.#answerOffset = this.printed.total;
      if (answer !== null) this.#print(answer);
      this.settle(toStatus(status), status === "final" ? null : why);
    } catch (error) {
      this.settle("failed", (error as Error).message);
    }
    this.printed.finish();
  }

  #print(text: string): void {
    this.printed.append("stdout", Buffer.from(text));
  }

  #toResult(): TaskResult {
    return { taskId: this.id, ...this.state(), ...this.printed.summary() };
  }
}

function toStatus(status: RunStatus): TaskStatus {
  if (status === "final" || status === "partial") return "completed";
  return status;
}
