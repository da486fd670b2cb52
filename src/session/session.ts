// A persistent REPL with an identity: a kernel at a time, a queue of executions, limits, a lifetime.
//
// Executions run one at a time, first come first served. When a worker is lost the session goes on with an empty
// namespace and a new epoch, in the same sandbox, so its files stay. Closing ends everything and cannot be undone.

import type { Environment, Sandbox, SandboxOptions, WorkerExit } from "../environments/environment.ts";
import { SessionBusyError, SessionClosedError } from "../errors.ts";
import { Kernel, type CallHandler, type Outcome } from "../kernel/kernel.ts";
import type { OutputBounds } from "../kernel/output-log.ts";
import type { SessionEvent } from "../protocol/events.ts";
import type { ExecutionResult, MimeBundle, OutputStream } from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";
import { Displays } from "./displays.ts";
import { EventFeed, type Listener } from "./event-feed.ts";
import { Execution } from "./execution.ts";
import { History, type HistoryEntry } from "./history.ts";
import { checkExecuteOptions, type ExecuteOptions } from "./options.ts";
import { NEVER_STARTED, toResult, toVerdict } from "./result.ts";

export interface SessionSettings {
  readonly id: SessionId;
  readonly environment: Environment;
  readonly sandboxOptions: SandboxOptions;
  /** Environment variables of the whole session. */
  readonly env: Readonly<Record<string, string>>;
  /** Where code starts; relative to the working directory. Absent: the working directory itself. */
  readonly cwd: string | undefined;
  readonly onCall: CallHandler;
  readonly output: OutputBounds;
  readonly defaultTimeoutMs: number | null;
  /** After this long without an execution the session closes. Null: never. */
  readonly idleTimeoutMs: number | null;
  readonly graceMs: number;
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

interface Waiting {
  readonly execution: Execution;
  readonly count: number;
  readonly options: ExecuteOptions;
  cancelled: boolean;
}

const DEFAULT_SLICE_BYTES = 1024 * 1024;

export class Session implements AsyncDisposable {
  readonly id: SessionId;
  readonly #settings: SessionSettings;
  readonly #sandboxes: { current: Sandbox };
  readonly #feed: EventFeed;
  readonly #history = new History();
  readonly #queue: Waiting[] = [];
  readonly #createdAt = new Date();
  readonly #onClosed: (session: Session) => void;
  #kernel: Kernel;
  /** Settles when there is a kernel again; absent while there is one. */
  #recovery: Promise<void> | undefined;
  #running: Waiting | undefined;
  #lastExecutedAt: Date | undefined;
  #count = 0;
  #epoch = 1;
  #asked = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #closing: Promise<SessionInfo> | undefined;
  #closedWhy: string | undefined;

  private constructor(settings: SessionSettings, sandbox: Sandbox, onClosed: (session: Session) => void) {
    this.id = settings.id;
    this.#settings = settings;
    this.#sandboxes = { current: sandbox };
    this.#onClosed = onClosed;
    this.#feed = new EventFeed(settings.id);
    this.#kernel = this.#createKernel(sandbox);
    this.#startIdleTimer();
  }

  static async open(settings: SessionSettings, onClosed: (session: Session) => void): Promise<Session> {
    const sandbox = await settings.environment.openSandbox(settings.sandboxOptions);
    const session = new Session(settings, sandbox, onClosed);
    try {
      await session.#configure();
    } catch (error) {
      await session.close();
      throw error;
    }
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
    const execution = new Execution(id, this.id, code, this.#settings.output);
    const waiting: Waiting = { execution, count: this.#count, options, cancelled: false };
    options.signal?.addEventListener("abort", () => this.#cancel(waiting), { once: true });
    this.#queue.push(waiting);
    clearTimeout(this.#idleTimer);
    this.#next();
    return execution;
  }

  /** Interrupts the execution that runs now, as Ctrl-C would. Does nothing when none runs. */
  interrupt(): void {
    this.#checkOpen();
    if (this.#running !== undefined) this.#kernel.stop("cancelled");
  }

  /** Empties the namespace; id and statistics stay, the history is cleared. Waits for its turn in the queue. */
  async reset(): Promise<void> {
    this.#checkOpen();
    await this.#whenIdle();
    const status = await this.#kernel.reset(this.#nextAsk());
    if (status === undefined) return; // the worker was lost: the namespace is empty all the same
    this.#history.clear();
    this.#epoch += 1;
    this.#feed.emit({ type: "session-reset", epoch: this.#epoch, why: "reset" });
  }

  info(): SessionInfo {
    return {
      id: this.id,
      environment: this.#settings.environment.name,
      state: this.#closedWhy !== undefined ? "closed" : this.#running === undefined ? "idle" : "running",
      createdAt: this.#createdAt.toISOString(),
      lastExecutedAt: this.#lastExecutedAt?.toISOString() ?? null,
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
    { stream = "stdout", offset = 0, length = DEFAULT_SLICE_BYTES }: { stream?: OutputStream; offset?: number; length?: number } = {},
  ): OutputSlice | undefined {
    const execution = this.#history.execution(executionId);
    if (execution === undefined) return undefined;
    const log = execution.log(stream);
    const bytes = log.read(offset, length);
    const { total: totalBytes, readable: readableBytes } = log;
    return { bytes, offset, nextOffset: offset + bytes.length, totalBytes, readableBytes };
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
    clearTimeout(this.#idleTimer);
    this.#kernel.kill("closed");
    for (const waiting of this.#queue.splice(0)) this.#settleUnstarted(waiting);
    await this.#recovery?.catch(() => {});
    await this.#sandboxes.current.close();
    const info = this.info();
    this.#history.clear();
    this.#feed.emit({ type: "session-end", why });
    this.#onClosed(this);
    return info;
  }

  #next(): void {
    if (this.#running !== undefined || this.#closedWhy !== undefined) return;
    const waiting = this.#queue.shift();
    if (waiting === undefined) {
      this.#startIdleTimer();
      return;
    }
    if (waiting.cancelled) {
      this.#settleUnstarted(waiting);
      this.#next();
      return;
    }
    this.#running = waiting;
    if (this.#recovery === undefined) this.#run(waiting);
    else void this.#recovery.then(() => this.#run(waiting), (error: Error) => this.#giveUp(waiting, error));
  }

  #run(waiting: Waiting): void {
    const { execution, count, options } = waiting;
    if (waiting.cancelled || this.#closedWhy !== undefined) {
      this.#running = undefined;
      this.#settleUnstarted(waiting);
      this.#next();
      return;
    }
    const displays = new Displays();
    const common = { executionId: execution.id };
    this.#history.begin(execution, count);
    execution.appendEvent(
      this.#feed.emit({ type: "execution-start", ...common, code: execution.code, executionCount: count }),
    );
    const { timeoutMs = this.#settings.defaultTimeoutMs } = options;
    const limitMs = timeoutMs === Infinity ? null : timeoutMs;
    const command = { id: execution.id, count, code: execution.code, env: options.env };
    const outcome = this.#kernel.execute(command, limitMs, {
      onOutput: (stream, chunk) => {
        execution.appendOutput(stream, chunk, this.#feed.nextSeq(), Date.now());
        this.#feed.emitOutput(execution.id, stream, chunk);
      },
      onDisplay: (data) => {
        if (displays.add(data)) execution.appendEvent(this.#feed.emit({ type: "display", ...common, data }));
      },
      onCall: (call, name) => execution.appendEvent(this.#feed.emit({ type: "call-start", ...common, call, name })),
      onReply: (call, ok) => execution.appendEvent(this.#feed.emit({ type: "call-end", ...common, call, ok })),
    });
    void outcome.then((ended) => this.#finish(waiting, ended, displays));
  }

  #finish(waiting: Waiting, outcome: Outcome, displays: Displays): void {
    this.#running = undefined;
    this.#lastExecutedAt = new Date();
    if (outcome.kind === "lost") this.#epoch += 1;
    const result = this.#toResult(waiting, outcome, displays);
    this.#history.end(waiting.execution, result);
    this.#end(waiting.execution, result);
    if (outcome.kind === "lost") {
      this.#feed.emit({ type: "session-reset", epoch: this.#epoch, why: "worker-lost" });
      this.#recover(outcome.exit);
    }
    this.#settings.environment.refill();
    this.#next();
  }

  #toResult({ execution, count }: Waiting, outcome: Outcome, displays: Displays): ExecutionResult {
    const stdout = execution.printed("stdout")?.summary();
    const stderr = execution.printed("stderr")?.summary();
    const status = outcome.kind === "status" ? outcome.status : undefined;
    const valueCut = toValueCut(status?.valueTotal, status?.value);
    const truncated = {
      ...(stdout?.cut && { stdout: stdout.cut }),
      ...(stderr?.cut && { stderr: stderr.cut }),
      ...(valueCut && { value: valueCut }),
      ...(displays.cut && { displays: displays.cut }),
    };
    return {
      stdout: stdout?.text ?? "",
      stderr: stderr?.text ?? "",
      displays: displays.kept,
      ...toVerdict(outcome),
      truncated: Object.keys(truncated).length > 0 ? truncated : null,
      sessionId: this.id,
      executionId: execution.id,
      executionCount: count,
      epoch: this.#epoch,
      durationMs: outcome.durationMs,
      usage: { cpuMs: status?.cpuMs ?? 0, peakMemoryBytes: status?.peakBytes ?? 0 },
    };
  }

  #settleUnstarted({ execution, count }: Waiting): void {
    this.#end(execution, {
      stdout: "",
      stderr: "",
      displays: [],
      ...NEVER_STARTED,
      truncated: null,
      sessionId: this.id,
      executionId: execution.id,
      executionCount: count,
      epoch: this.#epoch,
      durationMs: 0,
      usage: { cpuMs: 0, peakMemoryBytes: 0 },
    });
  }

  #end(execution: Execution, fields: ExecutionResult): void {
    const result = toResult(fields);
    execution.appendEvent(this.#feed.emit({ type: "execution-end", executionId: execution.id, result }));
    execution.settle(result);
  }

  #giveUp(waiting: Waiting, error: Error): void {
    this.#running = undefined;
    waiting.execution.fail(error);
    this.#next();
  }

  #cancel(waiting: Waiting): void {
    waiting.cancelled = true;
    if (this.#running === waiting) {
      this.#kernel.stop("cancelled");
      return;
    }
    const index = this.#queue.indexOf(waiting);
    if (index === -1) return;
    this.#queue.splice(index, 1);
    this.#settleUnstarted(waiting);
  }

  #createKernel(sandbox: Sandbox): Kernel {
    const { onCall, graceMs } = this.#settings;
    const kernel: Kernel = new Kernel(sandbox.worker, { onCall, graceMs }, {
      onBackground: (stream, chunk) => this.#feed.emitBackground(stream, chunk),
      onEnd: (exit) => this.#lose(kernel, exit),
    });
    return kernel;
  }

  /** The worker ended on its own while nothing ran. An execution that was hit by it has told its own story. */
  #lose(kernel: Kernel, exit: WorkerExit): void {
    if (kernel !== this.#kernel || this.#running !== undefined || this.#closedWhy !== undefined) return;
    this.#epoch += 1;
    this.#feed.emit({ type: "session-reset", epoch: this.#epoch, why: "worker-lost" });
    this.#recover(exit);
  }

  #recover(exit: WorkerExit): void {
    if (this.#closedWhy !== undefined) return;
    const recovery = this.#restart(exit).finally(() => {
      if (this.#recovery === recovery) this.#recovery = undefined;
    });
    recovery.catch(() => {}); // told to the next execution
    this.#recovery = recovery;
  }

  /** A new worker in the same sandbox; where that is gone, in a new one. */
  async #restart(exit: WorkerExit): Promise<void> {
    const { environment, sandboxOptions } = this.#settings;
    if (exit.kind === "sandbox-gone") this.#sandboxes.current = await environment.openSandbox(sandboxOptions);
    else await this.#sandboxes.current.restart();
    if (this.#closedWhy !== undefined) return;
    this.#kernel = this.#createKernel(this.#sandboxes.current);
    await this.#configure();
  }

  async #configure(): Promise<void> {
    const { env, cwd } = this.#settings;
    if (cwd === undefined && Object.keys(env).length === 0) return;
    const status = await this.#kernel.configure(this.#nextAsk(), { env, cwd });
    if (status?.error !== undefined) {
      throw new RangeError(`Cannot open session '${this.id}': ${status.error.value || status.error.name}`);
    }
  }

  async #whenIdle(): Promise<void> {
    while (this.#running !== undefined || this.#recovery !== undefined) {
      await (this.#running?.execution.result ?? this.#recovery)?.then(ignore, ignore);
    }
  }

  #startIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    const { idleTimeoutMs } = this.#settings;
    if (idleTimeoutMs === null || this.#closedWhy !== undefined) return;
    this.#idleTimer = setTimeout(() => void this.close("it was idle for too long"), idleTimeoutMs);
    this.#idleTimer.unref();
  }

  #nextAsk(): string {
    this.#asked += 1;
    return `${this.id}/${this.#asked}`;
  }

  #checkOpen(): void {
    if (this.#closedWhy !== undefined) throw new SessionClosedError({ sessionId: this.id, why: this.#closedWhy });
  }
}

function ignore(): void {}

function toValueCut(total: number | undefined, value: MimeBundle | undefined): { total: number; omitted: number } | null {
  if (total === undefined) return null;
  return { total, omitted: Math.max(0, total - (value?.["text/plain"]?.length ?? 0)) };
}
