// Runs the code of a session on its kernels, turn by turn, and tells how each execution ended.
//
// When a worker is lost the session goes on: from its last checkpoint where there is one, else with an empty namespace.
// Either way the epoch is a new one. Once closed, nothing begins any more.

import type { WorkerExit } from "../../environments/environment.ts";
import { ForkRefusedError, SessionBusyError, SessionClosedError } from "../../errors.ts";
import type { KernelListener, Outcome } from "../../kernel/kernel.ts";
import type { OutputLimits } from "../../output/output-log.ts";
import type { ResetReason } from "../../protocol/events.ts";
import type { ExecutionId } from "../../protocol/ids.ts";
import { Checkpoints } from "../kernels/checkpoints.ts";
import type { EventFeed } from "../event-feed.ts";
import { Execution } from "./execution.ts";
import type { History } from "./history.ts";
import type { Kernels, KernelSettings } from "../kernels/kernels.ts";
import type { ExecuteOptions } from "../options.ts";
import { Result } from "../result.ts";
import { Turn } from "./queued-execution.ts";
import { Turns } from "./queue.ts";

export interface RunnerSettings extends KernelSettings {
  /** What ids of executions begin with; their number follows. */
  readonly executionPrefix: string;
  readonly output: OutputLimits;
  readonly defaultTimeoutMs: number | null;
  readonly maxWaiting: number;
  /** Checkpoints taken before executions, so that they can be undone. 0: none. */
  readonly autoCheckpoints: number;
  /** How many cells the namespace has seen already, in the session that it is a copy of. */
  readonly countBefore?: number;
}

export class Runner {
  readonly turns: Turns;
  readonly checkpoints: Checkpoints;
  readonly #settings: RunnerSettings;
  readonly #feed: EventFeed;
  readonly #history: History;
  /** Set once, right after the session is made. */
  #kernels!: Kernels;
  /** As an outcome reaches it; one function for all executions. */
  readonly #onEnd = (turn: Turn, outcome: Outcome): void => this.#finish(turn, outcome);
  #lastExecutedAt: number | undefined;
  #count = 0;
  #executed = 0;
  #epoch = 1;
  #closedWhy: string | undefined;

  constructor(settings: RunnerSettings, feed: EventFeed, history: History) {
    this.#settings = settings;
    this.#count = settings.countBefore ?? 0;
    this.#feed = feed;
    this.#history = history;
    this.checkpoints = new Checkpoints(settings.autoCheckpoints);
    this.turns = new Turns({
      recovery: () => this.#kernels.recovery,
      closed: () => this.#closedError(),
      run: (turn) => this.#begin(turn),
      drop: (turn, error) => this.#drop(turn, error),
    });
  }

  /** Must be called once, before anything else. */
  async start(openKernels: (listener: KernelListener) => Promise<Kernels>): Promise<void> {
    this.#kernels = await openKernels({
      onBackground: (stream, chunk) => this.#feed.sendBackground(stream, chunk),
      onEnd: (exit) => this.#lose(exit),
    });
  }

  get kernels(): Kernels {
    return this.#kernels;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Executions that were asked for, in a fork since before it was one, and those that have ended. */
  get count(): number {
    return this.#count;
  }

  get executed(): number {
    return this.#executed;
  }

  get lastExecutedAt(): number | undefined {
    return this.#lastExecutedAt;
  }

  get state(): "idle" | "running" | "closed" {
    if (this.#closedWhy !== undefined) return "closed";
    return this.turns.running === undefined ? "idle" : "running";
  }

  /** Whose turn it is, if it is an execution's. It may wait for a worker yet. */
  get running(): Execution | undefined {
    const { running } = this.turns;
    return running instanceof Turn ? running.execution : undefined;
  }

  execute(code: string, options: ExecuteOptions): Execution {
    this.checkOpen();
    options.signal?.throwIfAborted();
    this.#checkRoom();
    const { id: sessionId, executionPrefix, output } = this.#settings;
    this.#count += 1;
    const id = `${executionPrefix}.${this.#count}` as ExecutionId;
    const execution = new Execution(id, sessionId, this.#count, code, output);
    const turn = new Turn(execution, options, this.#feed, this.#onEnd);
    execution.onCancel = () => this.#cancel(turn);
    if (options.signal !== undefined) turn.listenTo(options.signal, execution.onCancel);
    this.turns.execute(turn);
    return execution;
  }

  /** Interrupts what runs now: the execution that it is, if it is one. */
  interrupt(): Execution | undefined {
    this.checkOpen();
    const { running } = this.turns;
    if (running !== undefined) this.#stop(running);
    return this.running;
  }

  /** Does something other than running code when its turn has come. */
  async operate<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.checkOpen();
    this.#checkRoom();
    return this.turns.operate(work, signal);
  }

  /** Copies are made between executions, never in the middle of one. What else a session does, they wait for. */
  async operateWhenIdle<T>(action: string, work: () => Promise<T>): Promise<T> {
    this.checkOpen();
    if (this.turns.hasExecution) throw new ForkRefusedError({ action, why: "an execution is running" });
    this.#checkRoom();
    return this.turns.operate(work);
  }

  renewEpoch(why: ResetReason): void {
    this.#epoch += 1;
    this.#feed.sendReset(this.#epoch, why);
  }

  checkOpen(): void {
    const error = this.#closedError();
    if (error !== undefined) throw error;
  }

  /** Nothing begins from now on, and everything ends as soon as the last word is spoken. */
  async close(why: string, lastWord: Promise<unknown>): Promise<void> {
    this.#closedWhy = why;
    this.turns.dismissAll(new SessionClosedError({ sessionId: this.#settings.id, why }));
    await lastWord;
    await this.#kernels.close();
  }

  #checkRoom(): void {
    const { id: sessionId, maxWaiting } = this.#settings;
    if (this.turns.waiting >= maxWaiting) throw new SessionBusyError({ sessionId, waiting: this.turns.waiting });
  }

  #begin(turn: Turn): void {
    if (this.checkpoints.isAutomatic) void this.#runUndoable(turn);
    else this.#run(turn);
  }

  async #runUndoable(turn: Turn): Promise<void> {
    await this.checkpoints.step(this.#kernels, this.#executed);
    await this.#kernels.recovery?.catch(() => {});
    if (turn.cancelled) this.checkpoints.forgetStep();
    this.#run(turn);
  }

  #run(turn: Turn): void {
    const { execution, options } = turn;
    if (turn.cancelled || this.#closedWhy !== undefined) {
      this.turns.end();
      this.#settle(turn);
      this.turns.proceed();
      return;
    }
    const now = Date.now();
    execution.start(this.#feed.nextSeq(), now);
    this.#history.begin(execution, now);
    if (this.#feed.hasListeners) this.#feed.send(execution.startEvent());
    const { timeoutMs = this.#settings.defaultTimeoutMs, env, fileName: name } = options;
    const limitMs = timeoutMs === Infinity ? null : timeoutMs;
    this.#kernels.current.execute(
      { id: execution.id, count: execution.count, code: execution.code, env, name },
      limitMs,
      turn,
    );
  }

  #finish(turn: Turn, ended: Outcome): void {
    const outcome = this.#closedWhy === undefined ? ended : toClosed(ended);
    if (outcome.kind === "lost") void this.#finishLost(turn, outcome);
    else this.#conclude(turn, outcome);
  }

  /** What became of the state is known once the next worker is there; only a checkpoint is worth the wait. */
  async #finishLost(turn: Turn, outcome: Extract<Outcome, { kind: "lost" }>): Promise<void> {
    const checkpoint = this.checkpoints.latest();
    const recovery = this.#kernels.recover(outcome.exit, checkpoint);
    const isRestored = checkpoint !== undefined && (await recovery.catch(() => false));
    this.#epoch += 1;
    this.#conclude(turn, { ...outcome, isRestored });
    this.#feed.sendReset(this.#epoch, isRestored ? "restored" : "worker-lost");
  }

  #conclude(turn: Turn, outcome: Outcome): void {
    this.turns.end();
    this.#lastExecutedAt = Date.now();
    const isFirst = this.#executed === 0;
    this.#executed += 1;
    if (this.checkpoints.isAutomatic && ranNothing(outcome)) this.checkpoints.forgetStep();
    this.#settle(turn, outcome);
    if (isFirst) this.#settings.environment.refill();
    this.turns.proceed();
  }

  /** Without an outcome: it never started. */
  #settle(turn: Turn, outcome?: Outcome): void {
    const { execution, displays } = turn;
    turn.stopListening();
    const context = { execution, executionCount: execution.count, epoch: this.#epoch, displays };
    const result = new Result(context, outcome);
    if (outcome !== undefined) this.#history.end(execution, result.status, result.durationMs);
    execution.settle(result, this.#feed.nextSeq(), Date.now());
    if (this.#feed.hasListeners) this.#feed.send(execution.endEvent());
  }

  /** It never starts. */
  #drop(turn: Turn, error: Error | undefined): void {
    if (error === undefined) {
      this.#settle(turn);
      return;
    }
    turn.stopListening();
    turn.execution.fail(error);
  }

  /** What waits for a new worker has not started, and never will. */
  #stop(turn: NonNullable<Turns["running"]>): void {
    if (this.#kernels.recovery === undefined) this.#kernels.current.stop("cancelled");
    else if (turn instanceof Turn) turn.cancelled = true;
  }

  #cancel(turn: Turn): void {
    turn.cancelled = true;
    if (this.turns.running === turn) this.#stop(turn);
    else if (this.turns.remove(turn)) this.#settle(turn);
  }

  /** The worker ended on its own while nothing ran. An execution that was hit by it tells its own story. */
  #lose(exit: WorkerExit): void {
    if (this.turns.running instanceof Turn || this.#closedWhy !== undefined) return;
    void this.#kernels.recover(exit, this.checkpoints.latest()).then(
      (isRestored) => this.renewEpoch(isRestored ? "restored" : "worker-lost"),
      () => this.renewEpoch("worker-lost"),
    );
  }

  #closedError(): SessionClosedError | undefined {
    if (this.#closedWhy === undefined) return undefined;
    return new SessionClosedError({ sessionId: this.#settings.id, why: this.#closedWhy });
  }
}

function ranNothing(outcome: Outcome): boolean {
  return outcome.kind === "unstarted" || (outcome.kind === "status" && outcome.status.incomplete);
}

/** Closing ends the sandbox as a whole; what ran in it was cancelled, not lost. */
function toClosed(outcome: Outcome): Outcome {
  if (outcome.kind !== "lost") return outcome;
  return { ...outcome, exit: { kind: "signal", signal: 9, reason: "closed" } };
}
