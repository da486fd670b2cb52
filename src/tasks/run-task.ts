// A run under an id by which it can be found again, beside commands and executions.
//
// Its output is the story of the run: a line for each step, and at the end the whole answer, so that an answer too long for one
// message can be read by offset like any other output.

import { TaskStateError } from "../errors.ts";
import type { OutputBounds } from "../output/output-log.ts";
import { toSlice, type OutputRange, type OutputSlice } from "../output/output-slice.ts";
import { PrintedOutput } from "../output/printed-output.ts";
import type { RunId, TaskId } from "../protocol/ids.ts";
import type { RunEvent, RunResult, RunStatus } from "../protocol/runs.ts";
import type { TaskInfo, TaskResult, TaskStatus } from "../protocol/tasks.ts";
import { RunStory } from "./run-story.ts";
import { isOver, toExcerpt, waitFor, type TaskBase } from "./task.ts";

/** What a task needs of a run. */
export interface Followable extends AsyncIterable<RunEvent> {
  readonly id: RunId;
  readonly settings: { readonly query: string };
  readonly result: Promise<RunResult>;
  cancel(): void;
}

export class RunTask implements TaskBase, AsyncIterable<RunEvent> {
  readonly kind = "run";
  readonly sessionId = null;
  readonly id: TaskId;
  readonly run: Followable;
  readonly result: Promise<TaskResult>;
  readonly ended: Promise<void>;
  readonly printed: PrintedOutput;
  readonly #story = new RunStory();
  readonly #startedAt = Date.now();
  #status: TaskStatus = "running";
  #why: string | null = null;
  #endedAt: number | undefined;
  #answerOffset = 0;

  /** Use `Tasks.follow`. */
  constructor(id: TaskId, run: Followable, bounds: OutputBounds) {
    this.id = id;
    this.run = run;
    this.printed = new PrintedOutput(bounds);
    this.ended = this.#follow();
    this.result = this.ended.then(() => this.#toResult());
  }

  get command(): string {
    return this.run.settings.query;
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

  /** Where the answer begins in the output. */
  get answerOffset(): number {
    return this.#answerOffset;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.run[Symbol.asyncIterator]();
  }

  info(): TaskInfo {
    return {
      id: this.id,
      kind: this.kind,
      command: toExcerpt(this.command),
      startedAt: new Date(this.#startedAt).toISOString(),
      endedAt: this.#endedAt === undefined ? null : new Date(this.#endedAt).toISOString(),
      outputBytes: this.printed.total,
      ...this.#state(),
    };
  }

  output(range: OutputRange = {}): OutputSlice {
    return toSlice(this.printed.of(range.stream ?? "stdout"), range);
  }

  /** What it is doing now. */
  lastLine(): string {
    return this.#story.now;
  }

  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return this.isOver ? Promise.resolve(true) : waitFor(this.ended, timeoutMs, signal);
  }

  async cancel(): Promise<void> {
    this.run.cancel();
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

  async #follow(): Promise<void> {
    for await (const event of this.run) {
      const line = this.#story.hear(event);
      if (line !== undefined) this.#print(`${line}\n`);
    }
    try {
      const { status, answer, why } = await this.run.result;
      if (answer !== null) this.#print("Answer:\n");
      this.#answerOffset = this.printed.total;
      if (answer !== null) this.#print(answer);
      this.#settle(toStatus(status), status === "final" ? null : why);
    } catch (error) {
      this.#settle("failed", (error as Error).message);
    }
  }

  #print(text: string): void {
    this.printed.append("stdout", Buffer.from(text));
  }

  #settle(status: TaskStatus, why: string | null): void {
    this.#status = status;
    this.#why = why;
    this.#endedAt = Date.now();
  }

  #state(): Omit<TaskResult, "taskId" | "stdout" | "stderr" | "truncated"> {
    return {
      sessionId: this.sessionId,
      status: this.#status,
      exitCode: null,
      why: this.#why,
      durationMs: (this.#endedAt ?? Date.now()) - this.#startedAt,
      usage: { cpuMs: 0, peakMemoryBytes: 0 },
      background: false,
    };
  }

  #toResult(): TaskResult {
    const { text = "", cut = null } = this.printed.of("stdout")?.summary() ?? {};
    return {
      taskId: this.id,
      ...this.#state(),
      stdout: text,
      stderr: "",
      truncated: cut === null ? null : { stdout: cut },
    };
  }

  async #refuse(action: string): Promise<never> {
    throw new TaskStateError({ action, taskId: this.id, why: "it is a run. Only shell commands allow that" });
  }
}

function toStatus(status: RunStatus): TaskStatus {
  if (status === "final" || status === "partial") return "completed";
  return status;
}
