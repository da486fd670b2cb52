// A task as the SDK gives it.

import { checkOutputRange, checkWait } from "../api/checks/check-calls.ts";
import { checkInput } from "../api/checks/check-shell.ts";
import type { OutputRange, OutputSlice } from "../api/execution.ts";
import type { Task } from "../api/task.ts";
import type { Signal } from "../api/web-types.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { TaskInfo, TaskResult } from "../protocol/tasks.ts";
import type { Task as Inner } from "../tasks/tasks.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toPlainSlice } from "./plain-bytes.ts";
import { innerOf, Work, type Started } from "./work.ts";

export class SDKTask<Event> extends Work<Inner & Started<TaskResult, Event>, TaskResult, Event> implements Task<Event> {
  readonly id: TaskId;

  constructor(id: TaskId, inner: Inner | Promise<Inner>) {
    super(inner as (Inner & Started<TaskResult, Event>) | Promise<Inner & Started<TaskResult, Event>>);
    this.id = id;
  }

  get [Symbol.toStringTag](): string {
    return "Task";
  }

  async info(): Promise<TaskInfo> {
    const task = await innerOf(this);
    if (task.kind === "shell" && !task.isOver) await task.measure();
    return task.info();
  }

  output(range: OutputRange = {}): Promise<OutputSlice> {
    checkOutputRange("task.output", range);
    return this.#output(range);
  }

  wait(timeoutMs: number, options: { readonly signal?: Signal | undefined } = {}): Promise<boolean> {
    checkWait(timeoutMs, options);
    return this.#wait(timeoutMs, options.signal);
  }

  async cancel(): Promise<void> {
    await (await innerOf(this)).cancel();
  }

  async pause(): Promise<void> {
    await (await innerOf(this)).pause();
  }

  async resume(): Promise<void> {
    await (await innerOf(this)).resume();
  }

  write(data: string | Uint8Array): Promise<void> {
    checkInput(data);
    return this.#write(data);
  }

  async closeInput(): Promise<void> {
    (await innerOf(this)).closeInput();
  }

  async #output(range: OutputRange): Promise<OutputSlice> {
    return toPlainSlice((await innerOf(this)).output(omitUndefined(range)));
  }

  async #wait(timeoutMs: number, signal: Signal | undefined): Promise<boolean> {
    signal?.throwIfAborted();
    const hasEnded = await (await innerOf(this)).wait(timeoutMs, signal);
    if (!hasEnded) signal?.throwIfAborted();
    return hasEnded;
  }

  async #write(data: string | Uint8Array): Promise<void> {
    await (await innerOf(this)).write(data);
  }
}
