// Runs the executions and operations of a session on its kernels, in the order of the queue.
//
// A session survives the loss of its worker: it continues from the last checkpoint, or with an empty namespace where there is none. Either
// way a new epoch begins. Once closed, nothing starts any more.

import type { WorkerExit } from "../../environments/environment.ts";
import { ForkRefusedError, SessionBusyError, SessionClosedError } from "../../errors.ts";
import type { KernelListener } from "../../kernel/listeners.ts";
import type { Outcome } from "../../kernel/outcome.ts";
import type { OutputLimits } from "../../output/output-log.ts";
import type { ResetReason } from "../../protocol/events.ts";
import type { ExecutionId } from "../../protocol/ids.ts";
import type { ForkOrigin } from "../../protocol/sessions.ts";
import type { ActiveWork } from "../../util/async/active-work.ts";
import type { EventFeed } from "../event-feed.ts";
import { KeepAlive } from "../keep-alive.ts";
import { Checkpoints } from "../kernels/checkpoints.ts";
import type { Kernels, KernelSettings } from "../kernels/kernels.ts";
import type { ExecuteOptions } from "../options.ts";
import { createResult } from "../result.ts";
import { Execution } from "./execution.ts";
import type { History } from "./history.ts";
import { Operation } from "./operation.ts";
import { Queue } from "./queue.ts";
import { QueuedExecution } from "./queued-execution.ts";

export interface ExecutorSettings extends KernelSettings {
  /** The ids of executions are this prefix and their number. */
  readonly executionPrefix: string;
  readonly output: OutputLimits;
  readonly defaultTimeoutMs: number | null;
  readonly maxWaiting: number;
  /** How many checkpoints to keep from before executions, for undo. 0: none. */
  readonly autoCheckpoints: number;
  /** For a fork: how many executions the original has had. */
  readonly countBefore?: number;
  /** Absent: it is not a fork. */
  readonly forkedFrom?: ForkOrigin;
}

export class Executor {
  readonly checkpoints: Checkpoints;
  readonly keepAlive = new KeepAlive();
  readonly activeWork: ActiveWork;
  readonly #settings: ExecutorSettings;
  readonly #feed: EventFeed;
  readonly #history: History;
  readonly #queue: Queue<QueuedExecution | Operation>;
  /** Set once, by `start`. */
  #kernels!: Kernels;
  /** One function for all executions. */
  readonly #onEnd = (entry: QueuedExecution, outcome: Outcome): void => this.#finish(entry, outcome);
  #lastExecutedAt: number | undefined;
  #count: number;
  #executed = 0;
  #epoch = 1;
  /** Whether the head of the queue waits until code can be started. */
  #isPaused = false;
  #closedWhy: string | undefined;

  constructor(settings: ExecutorSettings, feed: EventFeed, history: History) {
    this.#settings = settings;
    this.#count = settings.countBefore ?? 0;
    this.#feed = feed;
    this.#history = history;
    this.checkpoints = new Checkpoints(settings.autoCheckpoints, settings.forkedFrom?.executionCount ?? 0, {
      onAdd: (checkpoint) => feed.sendCheckpoint(checkpoint),
      onDrop: (id) => {
        if (this.#closedWhy === undefined) feed.sendDropped(id); // else all are dropped, after the end is known
      },
    });
    this.activeWork = settings.activeWork;
    this.#queue = new Queue(settings.maxWaiting, this.keepAlive, this.activeWork);
  }

  /** Must be called once, before anything else. */
  async start(openKernels: (listener: KernelListener) => Promise<Kernels>): Promise<void> {
    this.#kernels = await openKernels({
      onBackground: (stream, chunk) => this.#feed.sendBackground(stream, chunk),
      onEnd: (exit) => void this.#recoverIdle(exit),
    });
  }

  get kernels(): Kernels {
    return this.#kernels;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Executions that were requested; in a fork, those of the original included. */
  get count(): number {
    return this.#count;
  }

  /** Executions that have ended. */
  get executed(): number {
    return this.#executed;
  }

  get lastExecutedAt(): number | undefined {
    return this.#lastExecutedAt;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get state(): "idle" | "running" | "closed" {
    if (this.#closedWhy !== undefined) return "closed";
    return this.#queue.running === undefined ? "idle" : "running";
  }

  /** The execution at the head of the queue, which may still wait for a worker. */
  get running(): Execution | undefined {
    const { running } = this.#queue;
    return running instanceof QueuedExecution ? running.execution : undefined;
  }

  /** Whether the head of the queue has been started. */
  get isRunningCode(): boolean {
    return this.#queue.running !== undefined && !this.#isPaused;
  }

  execute(code: string, options: ExecuteOptions): Execution {
    this.checkOpen();
    options.signal?.throwIfAborted();
    this.#checkNotFull();
    const { id: sessionId, executionPrefix, output } = this.#settings;
    this.#count += 1;
    const id = (options.id ?? `${executionPrefix}.${this.#count}`) as ExecutionId;
    const execution = new Execution(id, sessionId, this.#count, code, output);
    const entry = new QueuedExecution(execution, options, this.#feed, this.#onEnd);
    execution.onCancel = () => this.#cancel(entry);
    this.#queue.add(entry);
    this.#startNext();
    if (this.#feed.hasListeners && this.#queue.running !== entry) this.#feed.sendQueued(execution);
    return execution;
  }

  /** Interrupts what runs now. Returns it if it is an execution. */
  interrupt(): Execution | undefined {
    this.checkOpen();
    const { running } = this.#queue;
    if (running !== undefined) this.#stop(running);
    return this.running;
  }

  /** Queues work that is not an execution. */
  async operate<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.checkOpen();
    this.#checkNotFull();
    const operation = new Operation(work, signal);
    this.#queue.add(operation as Operation);
    this.#startNext();
    return operation.result;
  }

  /** For copies, which are made between executions. Refused while an execution runs or waits; waits for other operations. */
  async operateWhenIdle<T>(action: string, work: () => Promise<T>): Promise<T> {
    this.checkOpen();
    const isBusy = this.#queue.some((entry) => entry instanceof QueuedExecution);
    if (isBusy) throw new ForkRefusedError({ action, why: "an execution is running" });
    return this.operate(work);
  }

  renewEpoch(why: ResetReason): void {
    this.#epoch += 1;
    this.#feed.sendReset(this.#epoch, why, this.checkpoints.origin);
  }

  checkOpen(): void {
    const error = this.#closedError();
    if (error !== undefined) throw error;
  }

  /** Starts nothing more, and ends everything once `before` has settled. */
  async close(why: string, before: Promise<unknown>): Promise<void> {
    this.#closedWhy = why;
    const error = new SessionClosedError({ sessionId: this.#settings.id, why });
    for (const entry of this.#queue.close()) {
      if (entry instanceof Operation) entry.fail(error);
      else this.#settle(entry);
    }
    await before;
    await this.#kernels.close();
  }

  #checkNotFull(): void {
    const { isFull, waiting } = this.#queue;
    if (isFull) throw new SessionBusyError({ sessionId: this.#settings.id, waiting });
  }

  #startNext(): void {
    const entry = this.#queue.next();
    if (entry !== undefined) this.#beginWhenReady(entry);
  }

  /** Begins the entry as soon as there is a worker that can start code. */
  #beginWhenReady(entry: QueuedExecution | Operation): void {
    const { untilReady } = this.#kernels;
    this.#isPaused = untilReady !== undefined;
    if (untilReady === undefined) this.#begin(entry);
    else
      void untilReady.then(
        () => this.#beginWhenReady(entry),
        (error: Error) => {
          this.#isPaused = false;
          this.#release(() => entry.fail(error));
        },
      );
  }

  /** Frees the queue before the end is reported, because a listener may queue the next execution. */
  #release(report: () => void): void {
    this.#queue.release();
    report();
    this.#startNext();
  }

  #begin(entry: QueuedExecution | Operation): void {
    if (entry instanceof Operation) void this.#operate(entry);
    else if (this.checkpoints.isAutomatic) void this.#runUndoable(entry);
    else this.#run(entry);
  }

  async #operate(operation: Operation): Promise<void> {
    const error = this.#closedError();
    if (error === undefined) await operation.run();
    else operation.fail(error);
    this.#release(() => {});
  }

  async #runUndoable(entry: QueuedExecution): Promise<void> {
    await this.checkpoints.step(this.#kernels, this.#executed);
    await this.#kernels.recovery?.catch(() => {});
    if (entry.isCancelled) this.checkpoints.forgetStep();
    this.#run(entry);
  }

  #run(entry: QueuedExecution): void {
    const { execution, options } = entry;
    if (entry.isCancelled || this.#closedWhy !== undefined) {
      this.#release(() => this.#settle(entry));
      return;
    }
    const now = Date.now();
    execution.start(this.#feed.nextSeq(), now);
    this.#history.begin(execution, this.checkpoints.advance(execution.count), now);
    if (this.#feed.hasListeners) this.#feed.send(execution.startEvent());
    const { timeoutMs = this.#settings.defaultTimeoutMs, env, fileName: name } = options;
    const limitMs = timeoutMs === Infinity ? null : timeoutMs;
    const { id, count, code } = execution;
    const apart = entry.isApart || undefined;
    const console = options.console?.columns;
    this.#kernels.current.execute({ id, count, code, env, name, apart, console }, limitMs, entry);
  }

  #finish(entry: QueuedExecution, ended: Outcome): void {
    const outcome = this.#closedWhy === undefined ? ended : toClosed(ended);
    if (outcome.kind === "lost") void this.#finishLost(entry, outcome);
    else this.#conclude(entry, outcome);
  }

  /** The result says what became of the state, and does not wait for a new worker unless it is restored from a checkpoint. */
  async #finishLost(entry: QueuedExecution, outcome: Extract<Outcome, { kind: "lost" }>): Promise<void> {
    const checkpoint = this.checkpoints.latest();
    const restoring = this.#kernels.recover(outcome.exit, checkpoint?.handle, outcome.restoreLimitMs);
    const isRestored = checkpoint !== undefined && (await restoring);
    this.#epoch += 1;
    this.checkpoints.noteRecovery(isRestored ? checkpoint : undefined);
    const { origin } = this.checkpoints;
    this.#conclude(entry, { ...outcome, isRestored }, () =>
      this.#feed.sendReset(this.#epoch, isRestored ? "restored" : "worker-lost", origin),
    );
  }

  /** `report` is called before the next execution starts. */
  #conclude(entry: QueuedExecution, outcome: Outcome, report: () => void = () => {}): void {
    this.#lastExecutedAt = Date.now();
    const isFirst = this.#executed === 0;
    this.#executed += 1;
    if (this.checkpoints.isAutomatic && ranNothing(outcome)) this.checkpoints.forgetStep();
    this.#release(() => {
      this.#settle(entry, outcome);
      report();
      if (isFirst) this.#settings.environment.refill();
    });
  }

  /** Without an outcome: it never started. */
  #settle(entry: QueuedExecution, outcome?: Outcome): void {
    const { execution, displays } = entry;
    entry.stopListening();
    const result = createResult({ execution, epoch: this.#epoch, displays }, outcome);
    if (outcome !== undefined) this.#history.end(execution, result);
    execution.settle(result, this.#feed.nextSeq(), Date.now());
    if (this.#feed.hasListeners) this.#feed.send(execution.endEvent());
  }

  /** An execution that waits for a new worker never starts. */
  #stop(entry: QueuedExecution | Operation): void {
    if (!this.#isPaused) this.#kernels.current.stop("cancelled");
    else if (entry instanceof QueuedExecution) entry.isCancelled = true;
  }

  #cancel(entry: QueuedExecution): void {
    entry.isCancelled = true;
    if (this.#queue.running === entry) this.#stop(entry);
    else if (this.#queue.remove(entry)) this.#settle(entry);
  }

  /** Replaces a worker that ended while no execution ran. A running execution reports the loss itself. */
  async #recoverIdle(exit: WorkerExit): Promise<void> {
    if ((this.running !== undefined && !this.#isPaused) || this.#closedWhy !== undefined) return;
    const checkpoint = this.checkpoints.latest();
    const isRestored = await this.#kernels.recover(exit, checkpoint?.handle);
    this.checkpoints.noteRecovery(isRestored ? checkpoint : undefined);
    this.renewEpoch(isRestored ? "restored" : "worker-lost");
  }

  #closedError(): SessionClosedError | undefined {
    if (this.#closedWhy === undefined) return undefined;
    return new SessionClosedError({ sessionId: this.#settings.id, why: this.#closedWhy });
  }
}

function ranNothing(outcome: Outcome): boolean {
  return outcome.kind === "unstarted" || (outcome.kind === "status" && outcome.status.incomplete);
}

/** Closing ends the whole sandbox: what ran in it was cancelled, not lost. */
function toClosed(outcome: Outcome): Outcome {
  if (outcome.kind !== "lost") return outcome;
  return { ...outcome, exit: { kind: "signal", signal: 9, reason: "closed" } };
}
