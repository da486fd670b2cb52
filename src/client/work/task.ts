// A task on a server: a shell command, or an execution or a run that was found by the id of a task.

import { checkOutputRange, checkWait } from "../../api/checks/check-calls.ts";
import { checkInput } from "../../api/checks/check-shell.ts";
import type { OutputRange, OutputSlice } from "../../api/execution.ts";
import type { AnyTask } from "../../api/task.ts";
import type { Signal } from "../../api/web-types.ts";
import { TaskNotFoundError } from "../../errors.ts";
import type { TaskView } from "../../protocol/api/tasks.ts";
import type { ExecutionEvent } from "../../protocol/events.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type { TaskEvent, TaskInfo, TaskResult } from "../../protocol/tasks.ts";
import { fixedBody } from "../net/body.ts";
import { toSegment } from "../net/ids.ts";
import type { Requests } from "../net/requests.ts";
import type { Check } from "../shapes/check.ts";
import { executionEvent } from "../shapes/executions.ts";
import { runEvent } from "../shapes/runs.ts";
import { task, taskEvent } from "../shapes/tasks.ts";
import { CallOrder } from "./call-order.ts";
import { readOutput } from "./output.ts";
import { Engine, WAIT_MS, Work, type WorkKind } from "./work.ts";

type AnyTaskEvent = TaskEvent | ExecutionEvent | RunEvent;

/** How to start one. */
export interface TaskStart {
  readonly body: object;
  readonly signal: Signal | undefined;
  /** Sends in its turn. */
  readonly inOrder: <Value>(send: () => Promise<Value>) => Promise<Value>;
}

export class RemoteTask extends Work<TaskResult, AnyTaskEvent> implements AnyTask {
  readonly id: TaskId;
  readonly #engine: Engine<TaskResult, AnyTaskEvent, TaskView>;
  /** What is written arrives in the order of the calls. */
  readonly #inputs = new CallOrder();

  /** Found by its id, or started. */
  constructor(requests: Requests, id: string, start?: TaskStart) {
    const engine = new Engine(requests, taskKind(id));
    super(engine);
    this.id = id as TaskId;
    this.#engine = engine;
    if (start !== undefined) this.#start(start);
  }

  get [Symbol.toStringTag](): string {
    return "Task";
  }

  async info(): Promise<TaskInfo> {
    const { result: _, ...info } = await this.#engine.view();
    return info;
  }

  output(range: OutputRange = {}): Promise<OutputSlice> {
    checkOutputRange("task.output", range);
    return readOutput(this.#engine.requests, () => this.#engine.path(), range);
  }

  wait(timeoutMs: number, options: { readonly signal?: Signal | undefined } = {}): Promise<boolean> {
    checkWait(timeoutMs, options);
    return this.#wait(timeoutMs, options.signal);
  }

  async cancel(): Promise<void> {
    await this.#act("cancel");
  }

  async pause(): Promise<void> {
    await this.#act("pause");
  }

  async resume(): Promise<void> {
    await this.#act("resume");
  }

  write(data: string | Uint8Array): Promise<void> {
    checkInput(data);
    if (typeof data === "string") return this.#input({ json: { text: data } });
    return this.#input({ body: fixedBody(data.slice(), "application/octet-stream") });
  }

  closeInput(): Promise<void> {
    return this.#input({ json: { close: true } });
  }

  #start({ body, signal, inOrder }: TaskStart): void {
    this.#engine.begin(() =>
      inOrder(async () => {
        signal?.throwIfAborted();
        await this.#engine.requests.send("POST", "/v1/tasks", { json: { ...body, id: this.id } });
        return undefined;
      }),
    );
    if (signal !== undefined) this.#engine.cancelWith(signal, () => this.cancel());
  }

  async #act(action: string): Promise<void> {
    await this.#engine.requests.send("POST", `${await this.#engine.path()}/${action}`, { isQueued: true });
  }

  #input(request: Parameters<Requests["send"]>[2]): Promise<void> {
    return this.#inputs.operate(async () => {
      await this.#engine.requests.send("POST", `${await this.#engine.path()}/stdin`, request);
    });
  }

  async #wait(timeoutMs: number, signal: Signal | undefined): Promise<boolean> {
    const { clock } = this.#engine.requests.connection;
    const end = clock.now() + timeoutMs;
    for (;;) {
      const left = Math.max(0, Math.round(end - clock.now()));
      const view = await this.#engine.view(Math.min(WAIT_MS, left), signal);
      if (this.#engine.outcomeOf(view) !== undefined) return true;
      if (left <= WAIT_MS) return false;
    }
  }
}

const EVENTS = [taskEvent, executionEvent, runEvent];
const isEvent = (value: unknown): value is AnyTaskEvent => EVENTS.some((check) => check(value));
const anyEvent: Check<AnyTaskEvent> & { readonly tags: readonly string[] } = Object.assign(isEvent, {
  tags: EVENTS.flatMap(({ tags }) => tags),
});
const ENDS = new Set(["task-end", "execution-end", "execution-failed", "run-end", "run-broken"]);

function taskKind(id: string): WorkKind<TaskResult, AnyTaskEvent, TaskView> {
  const segment = toSegment(id);
  return {
    path: segment && `/v1/tasks/${segment}`,
    notFound: () => new TaskNotFoundError({ taskId: id, known: [] }),
    view: task,
    outcomeOf: ({ result }) => (result === null ? undefined : { result }),
    event: anyEvent,
    ends: ENDS,
    mayReject: false,
    outcomeIn: () => undefined, // the last event has less than the result
  };
}
