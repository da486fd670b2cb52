// A persistent REPL with an identity: one kernel at a time, a queue of executions, limits, a lifetime.
//
// Executions and operations run one at a time, in the order of the calls: see executor.ts. Closing is final.

import { inspect as printed } from "node:util";
import { requireCapability } from "../environments/capabilities.ts";
import type { SandboxLimits, SandboxUsage } from "../environments/environment.ts";
import type { KernelListener } from "../kernel/listeners.ts";
import { toSlice, type OutputRange, type OutputSlice } from "../output/output-slice.ts";
import type { HistoryEntry } from "../protocol/execution.ts";
import type { SessionId } from "../protocol/ids.ts";
import type { LoadReport, SaveReport } from "../protocol/session-manifest.ts";
import type * as variables from "../protocol/variables.ts";
import type { Checkpoint, NamespaceSummary, SessionInfo, StdlibState } from "../protocol/sessions.ts";
import { EventFeed, type Listener } from "./event-feed.ts";
import type { Execution } from "./execution/execution.ts";
import { Files } from "./files/files.ts";
import { History } from "./execution/history.ts";
import { IdleTimer } from "./idle-timer.ts";
import { Inspector } from "./inspect/inspector.ts";
import type { InspectOptions, LookOptions, RowsOptions, VariablesOptions } from "./inspect/inspector-options.ts";
import { Kernels } from "./kernels/kernels.ts";
import { checkExecuteOptions, type ExecuteOptions, type OperationOptions } from "./options.ts";
import { Executor, type ExecutorSettings } from "./execution/executor.ts";
import { SessionTasks } from "./session-tasks.ts";
import type { GetOptions, TakePiece } from "./state/get-variable.ts";
import type { VariableValue } from "./state/set-variable.ts";
import { StateOperations, type Restoring, type StateSettings } from "./state/state-operations.ts";

export interface SessionSettings extends ExecutorSettings, StateSettings {
  /** After this long without use the session closes. Null: never. */
  readonly idleTimeoutMs: number | null;
}

export type SessionNames = Pick<SessionSettings, "id" | "executionPrefix">;

/** What a session needs of the registry that it is in. */
export interface SessionRegistry {
  /** The session begins to close and must be forgotten. */
  onClosing(session: Session, why: string): void;
  /** Opens another session under this id, or a generated one, within the limits. */
  admit(id: string | undefined, open: (names: SessionNames) => Promise<Session>): Promise<Session>;
}

/** How long `info()` and `close()` wait for statistics of the worker. */
const INFO_LIMIT_MS = 500;
const CLOSE_LIMIT_MS = 250;
/** The last time that can be written. */
const MAX_TIME = 8.64e15;

export class Session implements AsyncDisposable {
  readonly id: SessionId;
  /** As ISO 8601 has it. With the id, it names one session: a later one may have the same id. */
  readonly createdAt = new Date().toISOString();
  /** The files in its working directory. Never waits for an execution. */
  readonly files: Files;
  /** Used by the runtime. */
  readonly tasks: SessionTasks;
  readonly #settings: SessionSettings;
  readonly #feed: EventFeed;
  readonly #history = new History();
  readonly #executor: Executor;
  readonly #state: StateOperations;
  readonly #registry: SessionRegistry;
  readonly #inspector: Inspector;
  #idleTimer: IdleTimer | undefined;
  #lastSummary: NamespaceSummary | undefined;
  #closing: Promise<SessionInfo> | undefined;
  #loaded: LoadReport | null = null;

  private constructor(settings: SessionSettings, registry: SessionRegistry) {
    this.id = settings.id;
    this.#settings = settings;
    this.#registry = registry;
    this.#feed = new EventFeed(settings.id);
    this.#executor = new Executor(settings, this.#feed, this.#history);
    this.#inspector = new Inspector(settings.id, this.#executor);
    this.files = new Files(this.#executor, settings.environment);
    this.tasks = new SessionTasks(settings, this.#executor);
    this.#state = new StateOperations(settings, this.#executor);
  }

  static async open(settings: SessionSettings, registry: SessionRegistry, restoring?: Restoring): Promise<Session> {
    const session = await new Session(settings, registry).#start((listener) => Kernels.open(settings, listener));
    if (restoring !== undefined) await session.#restore(restoring);
    return session;
  }

  async #restore(restoring: Restoring): Promise<void> {
    try {
      this.#loaded = await this.#state.restore(restoring);
    } catch (error) {
      await this.discard("its session file could not be loaded");
      throw error;
    }
  }

  async #start(openKernels: (listener: KernelListener) => Promise<Kernels>): Promise<this> {
    using _ = this.#executor.keepAlive.hold(); // opening may take longer than the idle limit
    await this.#executor.start(openKernels);
    this.#startIdleTimer();
    return this;
  }

  /** Queues code and returns at once. Throws SessionBusyError or SessionClosedError; never because of the code. */
  execute(code: string, options: ExecuteOptions = {}): Execution {
    checkExecuteOptions(code, options);
    return this.#executor.execute(code, options);
  }

  /** Interrupts what runs now, as Ctrl-C would. Returns it if it is an execution. */
  interrupt(): Execution | undefined {
    return this.#executor.interrupt();
  }

  /** Queues a reset: the namespace and the history are cleared; id, statistics and files stay. */
  reset(): Promise<void> {
    return this.#executor.operate(async () => {
      this.#executor.checkpoints.noteReset();
      const isReset = await this.#executor.kernels.reset();
      this.#history.clear();
      // Otherwise the worker was lost, which is reported as such and also empties the namespace.
      if (isReset) this.#executor.renewEpoch("reset");
    });
  }

  /** Queues the setting of a variable. Throws a TypeError or RangeError at once for an invalid name or value. */
  set(name: string, value: VariableValue, options: OperationOptions = {}): Promise<void> {
    return this.#state.set(name, value, options);
  }

  /**
   * Queues the reading of a variable. Rejects with a VariableNotFoundError, or a SessionStateError for a value that is not of this kind or
   * too large. Throws a TypeError or RangeError at once for an invalid name or option.
   */
  get(name: string, options: GetOptions = {}): Promise<Buffer> {
    const pieces: Buffer[] = [];
    return this.getInto(name, (piece) => pieces.push(Buffer.from(piece)), options).then(() => Buffer.concat(pieces));
  }

  /** As `get`, in pieces. When it rejects, what was taken is incomplete. */
  getInto(name: string, take: TakePiece, options: GetOptions = {}): Promise<void> {
    return this.#state.get(name, take, options);
  }

  /** Saves every variable that can be saved. A file at the path is replaced once all is written. */
  save(path: string, options: OperationOptions = {}): Promise<SaveReport> {
    return this.#state.save(path, options);
  }

  /** What was loaded from the session file that it started with. Null: it started empty. */
  get loaded(): LoadReport | null {
    return this.#loaded;
  }

  get stdlib(): StdlibState {
    return this.#executor.kernels.stdlib;
  }

  /**
   * A live copy, in milliseconds: namespace, unpicklable objects and open files included, in a copy of the working directory. Throws
   * ForkRefusedError while code runs or when the copy would not be exact.
   */
  fork({ id }: { readonly id?: string } = {}): Promise<Session> {
    const action = `fork session '${this.id}'`;
    return this.#operateOnCopy("fork", action, async () => {
      const fork = await this.#registry.admit(id, (names) => {
        const forkedFrom = { sessionId: this.id, executionCount: this.#executor.checkpoints.origin.head };
        const settings = { ...this.#settings, ...names, forkedFrom, countBefore: this.#executor.count };
        return new Session(settings, this.#registry).#start((listener) =>
          this.#executor.kernels.fork(settings, listener),
        );
      });
      this.#feed.sendFork(fork.id);
      return fork;
    });
  }

  /** Keeps a live copy of the namespace to return to, without the files. Throws as `fork` does. */
  checkpoint(): Promise<Checkpoint> {
    return this.#operateOnCopy("checkpoint", "make a checkpoint", () =>
      this.#executor.checkpoints.make(this.#executor.kernels, this.#executor.executed),
    );
  }

  checkpoints(): readonly Checkpoint[] {
    return this.#executor.checkpoints.list();
  }

  /** Drops a checkpoint and frees its memory. */
  dropCheckpoint(checkpoint: Checkpoint | string): void {
    this.#executor.checkpoints.drop(checkpoint);
  }

  /** Returns to a checkpoint, which is kept. Nothing has changed if this throws. */
  rewind(checkpoint: Checkpoint | string): Promise<Checkpoint> {
    return this.#operateOnCopy("checkpoint", "go back to a checkpoint", async () => {
      const reached = await this.#executor.checkpoints.rewind(this.#executor.kernels, checkpoint);
      this.#executor.renewEpoch("rewound");
      return reached;
    });
  }

  /** Returns to the state before the last execution that was not undone. Needs `autoCheckpoint`. */
  undo(): Promise<void> {
    return this.#operateOnCopy("checkpoint", "undo the last execution", async () => {
      await this.#executor.checkpoints.undo(this.#executor.kernels);
      this.#executor.renewEpoch("rewound");
    });
  }

  /** The names of the namespace, also while code runs. Runs no user code. */
  async variables({ all = false }: VariablesOptions = {}): Promise<variables.VariableList> {
    return this.#inspector.variables(all);
  }

  /** One variable, truncated, also while code runs. Null: there is no such name. Does not change the session. */
  async inspect(name: string, options: InspectOptions = {}): Promise<variables.InspectedVariable | null> {
    return this.#inspector.inspect(name, options);
  }

  /** A part of a table, an array, a list or a dict, in the same way. */
  async rows(name: string, options: RowsOptions = {}): Promise<variables.VariableRows | null> {
    return this.#inspector.rows(name, options);
  }

  /** Completions at the cursor, which is an index into the code. */
  async complete(code: string, cursor: number, options: LookOptions = {}): Promise<variables.Completions> {
    return this.#inspector.complete(code, cursor, options);
  }

  /** The signature of the innermost open call at the cursor. Null: there is none, or it is not known. */
  async signature(code: string, cursor: number, options: LookOptions = {}): Promise<variables.Signature | null> {
    return this.#inspector.signature(code, cursor, options);
  }

  /** The source of a function, class or module, whose name may have dots. Null: there is none, or it is not known. */
  async source(name: string, options: LookOptions = {}): Promise<variables.SourceText | null> {
    return this.#inspector.source(name, options);
  }

  /** Never waits for running code: what the worker does not report in time is null. */
  async info(): Promise<SessionInfo> {
    return this.#infoWith(this.#lastSummary ?? (await this.#inspector.summary(INFO_LIMIT_MS)));
  }

  #infoWith(summary: NamespaceSummary): SessionInfo {
    const { lastExecutedAt } = this.#executor;
    const { environment, forkedFrom = null, idleTimeoutMs } = this.#settings;
    const { name, tier, capabilities } = environment;
    return {
      id: this.id,
      environment: name,
      tier,
      capabilities,
      state: this.#executor.state,
      createdAt: this.createdAt,
      lastExecutedAt: lastExecutedAt === undefined ? null : new Date(lastExecutedAt).toISOString(),
      executionCount: this.#executor.count,
      waiting: this.#executor.waiting,
      epoch: this.#executor.epoch,
      ...this.#executor.checkpoints.origin,
      forkedFrom,
      idleTimeoutMs,
      expiresAt: this.#expiresAt(),
      ...summary,
      stdlib: this.stdlib,
    };
  }

  get state(): SessionInfo["state"] {
    return this.#executor.state;
  }

  /** What the environment enforces on it. */
  get limits(): SandboxLimits {
    return this.#settings.sandboxOptions.limits;
  }

  /** Throws SessionClosedError. */
  checkOpen(): void {
    this.#executor.checkOpen();
  }

  get epoch(): number {
    return this.#executor.epoch;
  }

  /** The execution that has started and not ended. */
  get running(): Execution | undefined {
    const { running } = this.#executor;
    return running?.startedAt === undefined ? undefined : running;
  }

  /** Whether code or a task runs, or threads or processes of earlier executions are alive. */
  get isActive(): boolean {
    return this.#executor.state === "running" || this.tasks.hasAny || this.#executor.kernels.current.hasSurvivors;
  }

  /** Its current memory use. Null: not known. */
  usage(): Promise<SandboxUsage | null> {
    return this.#executor.activeWork.during(() => this.#executor.kernels.usage());
  }

  /** Frees memory: drops older checkpoints; if there are none, ends the tasks; else kills the worker. */
  freeMemory(): void {
    if (this.#executor.checkpoints.dropOthers()) return;
    if (!this.tasks.stopAll("all sessions together took too much memory"))
      this.#executor.kernels.current.kill("memory");
  }

  history(): readonly HistoryEntry[] {
    return this.#history.entries();
  }

  /** Receives every event from now on, background output included. Dispose to stop. */
  subscribe(listener: Listener): Disposable {
    return this.#feed.subscribe(listener);
  }

  /** Prevents idle expiry until disposed; the idle time then starts anew. */
  hold(): Disposable {
    return this.#executor.keepAlive.hold();
  }

  /** Undefined: the execution is no longer kept. */
  execution(id: string): Execution | undefined {
    return this.#history.execution(id);
  }

  /** What an execution printed, from a byte offset. Undefined: the execution is no longer kept. */
  output(executionId: string, { stream = "stdout", ...range }: OutputRange = {}): OutputSlice | undefined {
    const output = this.#history.output(executionId);
    return output === undefined ? undefined : toSlice(output.of(stream), range);
  }

  /** Ends everything in the session and returns its final statistics. Idempotent. */
  close(why = "it was closed"): Promise<SessionInfo> {
    this.#closing ??= this.#executor.activeWork.during(() => this.#close(why, CLOSE_LIMIT_MS));
    return this.#closing;
  }

  /** Closes it without waiting for final statistics. */
  async discard(why = "it was closed"): Promise<void> {
    this.#closing ??= this.#executor.activeWork.during(() => this.#close(why, 0));
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.discard();
  }

  /** For console.log: assertion libraries would otherwise call `inspect`, which has another meaning here. */
  [printed.custom](): string {
    return `Session { id: '${this.id}', state: '${this.#executor.state}' }`;
  }

  /** Throws ForkRefusedError at once where the environment cannot make copies, and while code runs. */
  async #operateOnCopy<T>(needed: "fork" | "checkpoint", action: string, work: () => Promise<T>): Promise<T> {
    requireCapability(this.#settings.environment, needed, action);
    return this.#executor.operateWhenIdle(action, work);
  }

  async #close(why: string, limitMs: number): Promise<SessionInfo> {
    this.#idleTimer?.stop();
    this.#registry.onClosing(this, why);
    this.tasks.announceEnd(why);
    const summary = this.#inspector.summary(limitMs);
    await this.#executor.close(why, summary);
    this.#lastSummary = await summary;
    const info = this.#infoWith(this.#lastSummary);
    this.#history.clear();
    this.#feed.sendEnd(why);
    return info;
  }

  #startIdleTimer(): void {
    const { idleTimeoutMs } = this.#settings;
    if (idleTimeoutMs === null) return;
    const lastUsedAt = (): number => (this.#isInUse ? Date.now() : this.#executor.keepAlive.lastUsedAt);
    this.#idleTimer = new IdleTimer(idleTimeoutMs, lastUsedAt, () => void this.close("it was idle for too long"));
  }

  get #isInUse(): boolean {
    return this.#inspector.isBusy || this.#executor.keepAlive.isInUse;
  }

  #expiresAt(): string | null {
    const { idleTimeoutMs } = this.#settings;
    if (idleTimeoutMs === null || this.#isInUse || this.state === "closed") return null;
    return new Date(Math.min(this.#executor.keepAlive.lastUsedAt + idleTimeoutMs, MAX_TIME)).toISOString();
  }
}
