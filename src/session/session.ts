// A persistent REPL with an identity: a kernel at a time, a queue of executions, limits, a lifetime.
//
// Executions and operations run one at a time, first come first served: see runner.ts. Closing ends everything and cannot
// be undone.

import { inspect as printed } from "node:util";
import type { SandboxUsage } from "../environments/environment.ts";
import type { KernelListener } from "../kernel/kernel.ts";
import { toSlice, type OutputRange, type OutputSlice } from "../output/output-slice.ts";
import type { HistoryEntry } from "../protocol/execution.ts";
import type { SessionId } from "../protocol/ids.ts";
import type { LoadReport } from "../protocol/session-manifest.ts";
import type { Completions, InspectedVariable, Signature, VariableList } from "../protocol/variables.ts";
import type { Checkpoint, NamespaceSummary, SessionInfo, StdlibState } from "../protocol/sessions.ts";
import { EventFeed, type Listener } from "./event-feed.ts";
import type { Execution } from "./execution/execution.ts";
import { Files } from "./files/files.ts";
import { History } from "./execution/history.ts";
import { Holds } from "./keep-alive.ts";
import { IdleTimer } from "./idle-timer.ts";
import { Inspector } from "./inspect/inspector.ts";
import type { InspectOptions, LookOptions, VariablesOptions } from "./inspect/inspector-options.ts";
import { Kernels } from "./kernels/kernels.ts";
import { checkExecuteOptions, type ExecuteOptions } from "./options.ts";
import { Runner, type RunnerSettings } from "./execution/runner.ts";
import { SessionTasks } from "./session-tasks.ts";
import type { SaveReport } from "./state/save-state.ts";
import type { VariableValue } from "./state/set-variable.ts";
import { StateOperations, type Restoring, type StateSettings } from "./state/state-operations.ts";
import type { OperationOptions } from "./kernels/interruptible.ts";

export interface SessionSettings extends RunnerSettings, StateSettings {
  /** After this long without use the session closes. Null: never. */
  readonly idleTimeoutMs: number | null;
}

export type SessionNames = Pick<SessionSettings, "id" | "executionPrefix">;

/** What a session needs of those around it. */
export interface SessionKeeper {
  /** It begins to close: from now on it is nobody's. */
  onClosing(session: Session, why: string): void;
  /** Finds a place for another session under this id, or a new one. */
  admit(id: string | undefined, open: (names: SessionNames) => Promise<Session>): Promise<Session>;
}

/** How long statistics wait for the worker, and final ones. */
const INFO_LIMIT_MS = 500;
const CLOSE_LIMIT_MS = 250;

export class Session implements AsyncDisposable {
  readonly id: SessionId;
  /** Its working directory, from outside. Never waits for an execution. */
  readonly files: Files;
  /** Used by the runtime. */
  readonly tasks: SessionTasks;
  readonly #settings: SessionSettings;
  readonly #feed: EventFeed;
  readonly #history = new History();
  readonly #holds = new Holds();
  readonly #runner: Runner;
  readonly #state: StateOperations;
  readonly #createdAt = new Date();
  readonly #keeper: SessionKeeper;
  readonly #inspector: Inspector;
  #idleTimer: IdleTimer | undefined;
  #lastSummary: NamespaceSummary | undefined;
  #closing: Promise<SessionInfo> | undefined;
  #loaded: LoadReport | null = null;

  private constructor(settings: SessionSettings, keeper: SessionKeeper) {
    this.id = settings.id;
    this.#settings = settings;
    this.#keeper = keeper;
    this.#feed = new EventFeed(settings.id);
    this.#runner = new Runner(settings, this.#feed, this.#history);
    this.#inspector = new Inspector(settings.id, this.#runner);
    this.files = new Files(this.#runner, settings.environment.name);
    this.tasks = new SessionTasks(settings, this.#runner);
    this.#state = new StateOperations(settings, this.#runner);
  }

  static async open(settings: SessionSettings, keeper: SessionKeeper, restoring?: Restoring): Promise<Session> {
    const session = await new Session(settings, keeper).#start((listener) => Kernels.open(settings, listener));
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
    await this.#runner.start(openKernels);
    this.#startIdleTimer();
    return this;
  }

  /** Queues code and returns at once. Throws SessionBusyError or SessionClosedError; never because of the code. */
  execute(code: string, options: ExecuteOptions = {}): Execution {
    checkExecuteOptions(code, options);
    return this.#runner.execute(code, options);
  }

  /** Interrupts what runs now, as Ctrl-C would: which it is. Undefined: nothing runs. */
  interrupt(): Execution | undefined {
    return this.#runner.interrupt();
  }

  /** Empties the namespace when its turn has come; id, statistics and files stay, the history is cleared. */
  reset(): Promise<void> {
    return this.#runner.operate(async () => {
      this.#runner.checkpoints.noteReset();
      const isReset = await this.#runner.kernels.reset();
      this.#history.clear();
      // Otherwise the worker was lost, which is told as that: the namespace is empty all the same.
      if (isReset) this.#runner.renewEpoch("reset");
    });
  }

  /** Sets a variable when its turn has come. Throws a TypeError or RangeError at once for what can never be set. */
  set(name: string, value: VariableValue, options: OperationOptions = {}): Promise<void> {
    return this.#state.set(name, value, options);
  }

  /** Saves every variable that can be saved to a session file; what is at the path is replaced when all is written. */
  save(path: string, options: OperationOptions = {}): Promise<SaveReport> {
    return this.#state.save(path, options);
  }

  /** What came out of the session file that it began with; null where it began empty. */
  get loaded(): LoadReport | null {
    return this.#loaded;
  }

  get stdlib(): StdlibState {
    return this.#runner.kernels.stdlib;
  }

  /**
   * A live copy, in milliseconds: namespace, unpicklable objects and open files included, in a copy of the working
   * directory. Throws ForkRefusedError while code runs or where a copy would not be exact.
   */
  fork({ id }: { readonly id?: string } = {}): Promise<Session> {
    const action = `fork session '${this.id}'`;
    return this.#runner.operateWhenIdle(action, () =>
      this.#keeper.admit(id, (names) => {
        const settings = { ...this.#settings, ...names, countBefore: this.#runner.count };
        return new Session(settings, this.#keeper).#start((listener) => this.#runner.kernels.fork(settings, listener));
      }),
    );
  }

  /** Keeps a live copy of the namespace to return to. Files are not part of it. Throws as `fork` does. */
  checkpoint(): Promise<Checkpoint> {
    return this.#runner.operateWhenIdle("make a checkpoint", () =>
      this.#runner.checkpoints.make(this.#runner.kernels, this.#runner.executed),
    );
  }

  checkpoints(): readonly Checkpoint[] {
    return this.#runner.checkpoints.list();
  }

  /** Gives a checkpoint up, and the memory it holds. */
  dropCheckpoint(checkpoint: Checkpoint | string): void {
    this.#runner.checkpoints.drop(checkpoint);
  }

  /** Goes back to a checkpoint, which stays. When this throws nothing has changed. */
  rewind(checkpoint: Checkpoint | string): Promise<Checkpoint> {
    return this.#runner.operateWhenIdle("go back to a checkpoint", async () => {
      const reached = await this.#runner.checkpoints.rewind(this.#runner.kernels, checkpoint);
      this.#runner.renewEpoch("rewound");
      return reached;
    });
  }

  /** Goes back to before the last execution; again, to before the one before it. Needs `autoCheckpoint`. */
  undo(): Promise<void> {
    return this.#runner.operateWhenIdle("undo the last execution", async () => {
      await this.#runner.checkpoints.undo(this.#runner.kernels);
      this.#runner.renewEpoch("rewound");
    });
  }

  /** The names of the namespace, while code may run; runs nothing of the user's. */
  async variables({ all = false }: VariablesOptions = {}): Promise<VariableList> {
    return this.#inspector.variables(all);
  }

  /** One variable, within bounds, while code may run. Null: there is no such name. The session is not touched by it. */
  async inspect(name: string, options: InspectOptions = {}): Promise<InspectedVariable | null> {
    return this.#inspector.inspect(name, options);
  }

  /** What could stand at the cursor, an index into the code. */
  async complete(code: string, cursor: number, options: LookOptions = {}): Promise<Completions> {
    return this.#inspector.complete(code, cursor, options);
  }

  /** The signature of the innermost call that is open at the cursor. Null: none is, or it is not known. */
  async signature(code: string, cursor: number, options: LookOptions = {}): Promise<Signature | null> {
    return this.#inspector.signature(code, cursor, options);
  }

  /** Never waits for what runs: where the worker does not answer at once, what only it knows is null. */
  async info(): Promise<SessionInfo> {
    return this.#infoWith(this.#lastSummary ?? (await this.#inspector.summary(INFO_LIMIT_MS)));
  }

  #infoWith(summary: NamespaceSummary): SessionInfo {
    const { lastExecutedAt } = this.#runner;
    return {
      id: this.id,
      environment: this.#settings.environment.name,
      state: this.#runner.state,
      createdAt: this.#createdAt.toISOString(),
      lastExecutedAt: lastExecutedAt === undefined ? null : new Date(lastExecutedAt).toISOString(),
      executionCount: this.#runner.count,
      waiting: this.#runner.turns.waiting,
      epoch: this.#runner.epoch,
      ...summary,
      stdlib: this.stdlib,
    };
  }

  get state(): SessionInfo["state"] {
    return this.#runner.state;
  }

  get epoch(): number {
    return this.#runner.epoch;
  }

  /** The execution that has begun and has not ended. */
  get running(): Execution | undefined {
    const { running } = this.#runner;
    return running?.startedAt === undefined ? undefined : running;
  }

  /** Whether code or a task runs, or threads or processes of earlier executions live on. */
  get isActive(): boolean {
    return this.#runner.state === "running" || this.tasks.isAny || this.#runner.kernels.current.hasSurvivors;
  }

  /** What it takes of the machine's memory now. Null: nobody answers. */
  usage(): Promise<SandboxUsage | null> {
    return this.#runner.kernels.usage();
  }

  /** Takes less of the machine's memory: without its older checkpoints, else without its tasks, else as after a crash. */
  relieve(): void {
    if (this.#runner.checkpoints.dropOthers()) return;
    if (!this.tasks.relieve("all sessions together took too much memory")) this.#runner.kernels.current.kill("memory");
  }

  history(): readonly HistoryEntry[] {
    return this.#history.entries();
  }

  /** Hears every event of the session from now on, background output included. Dispose to stop. */
  subscribe(listener: Listener): Disposable {
    return this.#feed.subscribe(listener);
  }

  /** In use until this is disposed, as by a person who looks at it: it does not end for idleness, and then counts anew. */
  hold(): Disposable {
    return this.#holds.take();
  }

  /** What an execution printed, from a byte offset. Older executions are forgotten; then this is undefined. */
  output(executionId: string, { stream = "stdout", ...range }: OutputRange = {}): OutputSlice | undefined {
    const output = this.#history.output(executionId);
    return output === undefined ? undefined : toSlice(output.of(stream), range);
  }

  /** Ends everything in the session and answers with its final statistics. Idempotent. */
  close(why = "it was closed"): Promise<SessionInfo> {
    this.#closing ??= this.#close(why, CLOSE_LIMIT_MS);
    return this.#closing;
  }

  /** Closes it without what only the worker knows of its end, which nobody will read. */
  async discard(why = "it was closed"): Promise<void> {
    this.#closing ??= this.#close(why, 0);
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.discard();
  }

  /** As it is printed. Assertion libraries would call `inspect` for it, which is about variables here. */
  [printed.custom](): string {
    return `Session { id: '${this.id}', state: '${this.#runner.state}' }`;
  }

  async #close(why: string, limitMs: number): Promise<SessionInfo> {
    this.#idleTimer?.stop();
    this.#keeper.onClosing(this, why);
    this.tasks.foretellEnd(why);
    const summary = this.#inspector.summary(limitMs);
    await this.#runner.close(why, summary);
    this.#lastSummary = await summary;
    const info = this.#infoWith(this.#lastSummary);
    this.#history.clear();
    this.#feed.sendEnd(why);
    return info;
  }

  #startIdleTimer(): void {
    const { idleTimeoutMs } = this.#settings;
    if (idleTimeoutMs === null) return;
    const openedAt = Date.now(); // opening may have taken longer than it may be idle
    const users = [this.#runner.turns, this.files, this.tasks, this.#holds];
    const lastUse = (): number =>
      this.#inspector.isAsked ? Date.now() : Math.max(openedAt, ...users.map(({ lastUsedAt }) => lastUsedAt));
    this.#idleTimer = new IdleTimer(idleTimeoutMs, lastUse, () => void this.close("it was idle for too long"));
  }
}
