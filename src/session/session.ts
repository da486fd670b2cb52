// A persistent REPL with an identity: a kernel at a time, a queue of executions, limits, a lifetime.
//
// Executions and resets run one at a time, first come first served. When a worker is lost the session goes on with an
// empty namespace and a new epoch. Closing ends everything and cannot be undone.

import type { WorkerExit } from "../environments/environment.ts";
import { SessionBusyError, SessionClosedError } from "../errors.ts";
import type { Outcome } from "../kernel/kernel.ts";
import type { OutputBounds } from "../kernel/output-log.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";
import { EventFeed, type Listener } from "./event-feed.ts";
import { Execution } from "./execution.ts";
import { History, type HistoryEntry } from "./history.ts";
import { Kernels, type KernelSettings } from "./kernels.ts";
import { checkExecuteOptions, type ExecuteOptions } from "./options.ts";
import { IdleTimer } from "./idle-timer.ts";
import { Operation } from "./operation.ts";
import { Result } from "./result.ts";
import { Turn } from "./turn.ts";

export interface SessionSettings extends KernelSettings {
  readonly output: OutputBounds;
  readonly defaultTimeoutMs: number | null;
  /** After this long without an execution the session closes. Null: never. */
  readonly idleTimeoutMs: number | null;
  readonly maxWaiting: number;
}

export interface SessionInfo {
  readonly id: SessionId;
  readonly environment: string;
  readonly state: "idle" | "running" | "closed";
  readonly createdAt: string;
  readonly lastExecutedAt: string | null;
  readonly executionCount: number;
  /** Executions that wait for their turn. */
  readonly waiting: number;
  readonly epoch: number;
}

/** A part of what an execution printed. */
export interface OutputSlice {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly nextOffset: number;
  /** How much was printed so far. */
  readonly totalBytes: number;
  /** How much of it, from the first byte, can be read. */
  readonly readableBytes: number;
}

const DEFAULT_SLICE_BYTES = 1024 * 1024;

export class Session implements AsyncDisposable {
  readonly id: SessionId;
  readonly #settings: SessionSettings;
  readonly #feed: EventFeed;
  readonly #history = new History();
  readonly #queue: (Turn | Operation)[] = [];
  readonly #createdAt = new Date();
  readonly #onClosing: (session: Session) => void;
  /** Set once, right after the session is made. */
  #kernels!: Kernels;
  #running: Turn | Operation | undefined;
  /** As an outcome reaches it; one function for all executions. */
  readonly #onEnd = (turn: Turn, outcome: Outcome): void => this.#finish(turn, outcome);
  #lastExecutedAt: number | undefined;
  #lastUsedAt = Date.now();
  #count = 0;
  #executed = 0;
  #epoch = 1;
  #idleTimer: IdleTimer | undefined;
  #closing: Promise<SessionInfo> | undefined;
  #closedWhy: string | undefined;

  private constructor(settings: SessionSettings, onClosing: (session: Session) => void) {
    this.id = settings.id;
    this.#settings = settings;
    this.#onClosing = onClosing;
    this.#feed = new EventFeed(settings.id);
  }

  /** `onClosing` is called when it begins to close: from then on it is nobody's. */
  static async open(settings: SessionSettings, onClosing: (session: Session) => void): Promise<Session> {
    const session = new Session(settings, onClosing);
    session.#kernels = await Kernels.open(settings, {
      onBackground: (stream, chunk) => session.#feed.sendBackground(stream, chunk),
      onEnd: (exit) => session.#lose(exit),
    });
    session.#startIdleTimer();
    return session;
  }

  /** Queues code and returns at once. Throws SessionBusyError or SessionClosedError; never because of the code. */
  execute(code: string, options: ExecuteOptions = {}): Execution {
    checkExecuteOptions(code, options);
    this.#checkOpen();
    options.signal?.throwIfAborted();
    if (this.#queue.length >= this.#settings.maxWaiting) {
      throw new SessionBusyError({ sessionId: this.id, waiting: this.#queue.length });
    }
    this.#count += 1;
    const id = `${this.id}.${this.#count}` as ExecutionId;
    const execution = new Execution(id, this.id, this.#count, code, this.#settings.output);
    const turn = new Turn(execution, options, this.#feed, this.#onEnd);
    if (options.signal !== undefined) turn.listenTo(options.signal, () => this.#cancel(turn));
    this.#queue.push(turn);
    if (this.#running === undefined) this.#next();
    return execution;
  }

  /** Interrupts the execution that runs now, as Ctrl-C would. Does nothing when none runs. */
  interrupt(): void {
    this.#checkOpen();
    if (this.#running !== undefined) this.#stop(this.#running);
  }

  /** Empties the namespace when its turn has come; id, statistics and files stay, the history is cleared. */
  reset(): Promise<void> {
    return this.#enqueue(() => this.#empty());
  }

  info(): SessionInfo {
    return {
      id: this.id,
      environment: this.#settings.environment.name,
      state: this.#state(),
      createdAt: this.#createdAt.toISOString(),
      lastExecutedAt: this.#lastExecutedAt === undefined ? null : new Date(this.#lastExecutedAt).toISOString(),
      executionCount: this.#count,
      waiting: this.#queue.length,
      epoch: this.#epoch,
    };
  }

  history(): readonly HistoryEntry[] {
    return this.#history.entries();
  }

  /** Hears every event of the session from now on, background output included. Dispose to stop. */
  subscribe(listener: Listener): Disposable {
    return this.#feed.subscribe(listener);
  }

  /** What an execution printed, from a byte offset. Older executions are forgotten; then this is undefined. */
  output(
    executionId: string,
    {
      stream = "stdout",
      offset = 0,
      length = DEFAULT_SLICE_BYTES,
    }: { stream?: OutputStream; offset?: number; length?: number } = {},
  ): OutputSlice | undefined {
    const output = this.#history.output(executionId);
    if (output === undefined) return undefined;
    const log = output.of(stream);
    const bytes = log?.read(offset, length) ?? Buffer.alloc(0);
    const nextOffset = offset + bytes.length;
    return { bytes, offset, nextOffset, totalBytes: log?.total ?? 0, readableBytes: log?.readable ?? 0 };
  }

  /** Ends everything in the session and answers with its final statistics. Idempotent. */
  close(why = "it was closed"): Promise<SessionInfo> {
    this.#closing ??= this.#close(why);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(why: string): Promise<SessionInfo> {
    this.#closedWhy = why;
    this.#idleTimer?.stop();
    this.#onClosing(this);
    for (const turn of this.#queue.splice(0)) this.#dismiss(turn, why);
    await this.#kernels.close();
    const info = this.info();
    this.#history.clear();
    this.#feed.sendEnd(why);
    return info;
  }

  #next(): void {
    if (this.#running !== undefined || this.#closedWhy !== undefined) return;
    const turn = this.#queue.shift();
    if (turn === undefined) return;
    this.#running = turn;
    const { recovery } = this.#kernels;
    if (recovery === undefined) this.#begin(turn);
    else
      void recovery.then(
        () => this.#begin(turn),
        (error: Error) => this.#giveUp(turn, error),
      );
  }

  #begin(turn: Turn | Operation): void {
    if (turn instanceof Turn) this.#run(turn);
    else void this.#operate(turn);
  }

  /** Does something other than running code when its turn has come. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    const operation = new Operation(work);
    this.#queue.push(operation as Operation);
    this.#next();
    return operation.done;
  }

  async #operate(operation: Operation): Promise<void> {
    if (this.#closedWhy === undefined) await operation.run();
    else operation.dismiss(this.#closedError(this.#closedWhy));
    this.#running = undefined;
    this.#lastUsedAt = Date.now();
    this.#next();
  }

  async #empty(): Promise<void> {
    const isReset = await this.#kernels.reset();
    this.#history.clear();
    // Otherwise the worker was lost, which is told as that: the namespace is empty all the same.
    if (!isReset) return;
    this.#epoch += 1;
    this.#feed.sendReset(this.#epoch, "reset");
  }

  #run(turn: Turn): void {
    const { execution, options } = turn;
    if (turn.cancelled || this.#closedWhy !== undefined) {
      this.#running = undefined;
      this.#settle(turn);
      this.#next();
      return;
    }
    const now = Date.now();
    execution.begin(this.#feed.nextSeq(), now);
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
    this.#running = undefined;
    this.#lastExecutedAt = this.#lastUsedAt = Date.now();
    const isFirst = this.#executed === 0;
    this.#executed += 1;
    if (outcome.kind === "lost") this.#epoch += 1;
    this.#settle(turn, outcome);
    if (outcome.kind === "lost") {
      this.#feed.sendReset(this.#epoch, "worker-lost");
      this.#kernels.recover(outcome.exit);
    }
    if (isFirst) this.#settings.environment.refill();
    this.#next();
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

  #giveUp(turn: Turn | Operation, error: Error): void {
    this.#running = undefined;
    if (turn instanceof Turn) {
      turn.stopListening();
      turn.execution.fail(error);
    } else turn.dismiss(error);
    this.#next();
  }

  #dismiss(turn: Turn | Operation, why: string): void {
    if (turn instanceof Turn) this.#settle(turn);
    else turn.dismiss(this.#closedError(why));
  }

  #state(): SessionInfo["state"] {
    if (this.#closedWhy !== undefined) return "closed";
    return this.#running === undefined ? "idle" : "running";
  }

  /** What waits for a new worker has not started, and never will. */
  #stop(turn: Turn | Operation): void {
    if (this.#kernels.recovery === undefined) this.#kernels.current.stop("cancelled");
    else if (turn instanceof Turn) turn.cancelled = true;
  }

  #cancel(turn: Turn): void {
    turn.cancelled = true;
    if (this.#running === turn) {
      this.#stop(turn);
      return;
    }
    const index = this.#queue.indexOf(turn);
    if (index === -1) return;
    this.#queue.splice(index, 1);
    this.#settle(turn);
  }

  /** The worker ended on its own while nothing ran. An execution that was hit by it tells its own story. */
  #lose(exit: WorkerExit): void {
    if (this.#running instanceof Turn || this.#closedWhy !== undefined) return;
    this.#epoch += 1;
    this.#feed.sendReset(this.#epoch, "worker-lost");
    this.#kernels.recover(exit);
  }

  #startIdleTimer(): void {
    const { idleTimeoutMs } = this.#settings;
    if (idleTimeoutMs === null) return;
    const lastUse = (): number => (this.#running === undefined ? this.#lastUsedAt : Date.now());
    this.#idleTimer = new IdleTimer(idleTimeoutMs, lastUse, () => void this.close("it was idle for too long"));
  }

  #checkOpen(): void {
    if (this.#closedWhy !== undefined) throw this.#closedError(this.#closedWhy);
  }

  #closedError(why: string): SessionClosedError {
    return new SessionClosedError({ sessionId: this.id, why });
  }
}

/** Closing ends the sandbox as a whole; what ran in it was cancelled, not lost. */
function toClosed(outcome: Outcome): Outcome {
  if (outcome.kind !== "lost") return outcome;
  return { ...outcome, exit: { kind: "signal", signal: 9, reason: "closed" } };
}
