// One shell command in the sandbox of a session: started once, then streamed, awaited, paused, ended.
//
// A task is over when its command has ended. Processes that the command left running live on with the session; their output still belongs
// to the task, and `cancel()` ends them. A task that was stopped is over only when none of its processes is left.

import { posix } from "node:path";
import { checkInput } from "../api/checks/check-shell.ts";
import type { Program, ProgramExit, ProgramListener, ProgramUsage, Sandbox } from "../environments/environment.ts";
import { TaskStateError } from "../errors.ts";
import type { OutputLimits } from "../output/output-log.ts";
import { Transcript, type Stamp } from "../output/transcript.ts";
import type { OutputStream, Usage } from "../protocol/execution.ts";
import type { SessionId, TaskId } from "../protocol/ids.ts";
import type { TaskEvent, TaskInfo, TaskResult, TaskState, TaskStatus } from "../protocol/tasks.ts";
import type { ActiveWork } from "../util/async/active-work.ts";
import { onAbort } from "../util/async/on-abort.ts";
import { PausableTimer } from "../util/async/pausable-timer.ts";
import type { ShellOptions } from "./shell-options.ts";
import { waitFor } from "../util/async/wait-for.ts";
import { isOver, toInfo, type TaskBase } from "./task.ts";

/** The sandbox of a session, lent to one task. */
export interface SandboxLease {
  readonly start: NonNullable<Sandbox["startProgram"]>;
  /** Where commands start by default. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Must be called once no process of the task is left. */
  release(): void;
}

export interface ShellTaskSettings {
  readonly id: TaskId;
  readonly command: string;
  readonly sessionId: SessionId;
  /** Relative to the lease's. */
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Null: no limit. */
  readonly timeoutMs: number | null;
  readonly stdin: NonNullable<ShellOptions["stdin"]>;
  readonly signal: AbortSignal | undefined;
  readonly outputLimits: OutputLimits;
  readonly activeWork: ActiveWork;
  /** Rejects when there is no sandbox. */
  readonly lease: (task: ShellTask) => Promise<SandboxLease>;
}

type Ending = { readonly status: "cancelled" | "timed-out" | "failed"; readonly why: string };

/** Between the request to end and the kill. */
const GRACE_MS = 2_000;
/** Writes are refused while more than this is unread. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const OUT_OF_MEMORY = "more memory was used than the session, or all sessions together, may use";

export class ShellTask extends Transcript<TaskEvent> implements TaskBase, ProgramListener {
  readonly kind = "shell";
  readonly id: TaskId;
  readonly sessionId: SessionId;
  readonly command: string;
  readonly ended: Promise<void>;
  readonly #activeWork: ActiveWork;
  readonly #startedAt = Date.now();
  readonly #gone: Promise<void>;
  #status: TaskStatus = "running";
  #program: Program | undefined;
  #lease: SandboxLease | undefined;
  #ending: Ending | undefined;
  #exitCode: number | null = null;
  #endedAt: number | undefined;
  #usage: Usage = { cpuMs: 0, peakMemoryBytes: 0 };
  #isBackground = false;
  #isGone = false;
  #isInputOpen: boolean;
  /** Of pending writes. */
  #unreadBytes = 0;
  #result: Promise<TaskResult> | undefined;
  #timeout: PausableTimer | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #seq = 0;
  #endStamp: Stamp = { seq: 0, time: 0 };
  readonly #started: Promise<void>;
  readonly #stopListening: () => void;
  #onEnd: () => void = () => {};
  #onGone: () => void = () => {};

  /** Use `Tasks.shell`. */
  constructor(settings: ShellTaskSettings) {
    super(settings.outputLimits);
    this.id = settings.id;
    this.command = settings.command;
    this.sessionId = settings.sessionId;
    this.#activeWork = settings.activeWork;
    this.#isInputOpen = settings.stdin === "open";
    this.ended = new Promise((resolve) => {
      this.#onEnd = resolve;
    });
    this.#gone = new Promise((resolve) => {
      this.#onGone = resolve;
    });
    this.#stopListening = onAbort(settings.signal, () => void this.cancel());
    this.begin();
    this.#started = this.#start(settings);
  }

  /** Created on demand: most callers do not need the whole output. */
  get result(): Promise<TaskResult> {
    this.#result ??= this.ended.then(() => this.#toResult());
    return this.#result;
  }

  get status(): TaskStatus {
    return this.#status;
  }

  get isOver(): boolean {
    return isOver(this.#status);
  }

  /** Whether the command and everything that it started have ended. */
  get isGone(): boolean {
    return this.#isGone;
  }

  info(): TaskInfo {
    return toInfo(this, this.#state(), this.#startedAt, this.#endedAt);
  }

  /** Updates `info().usage` while it runs. */
  async measure(): Promise<Usage> {
    const usage = await this.#activeWork.during(async () => this.#program?.measure());
    if (usage) this.#recordUsage(usage);
    return this.#usage;
  }

  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return this.isOver ? Promise.resolve(true) : waitFor(this.ended, timeoutMs, signal);
  }

  cancel(): Promise<void> {
    return this.stop({ status: "cancelled", why: "it was cancelled" });
  }

  /** Asks every process to end, and kills those that do not. Resolves when none is left. */
  async stop(ending: Ending): Promise<void> {
    if (this.#isGone) return;
    this.setEnding(ending);
    const program = this.#program;
    if (program === undefined) this.#markGone(); // it never started
    else {
      program.askToEnd();
      this.#killTimer ??= setTimeout(() => program.kill(), GRACE_MS).unref();
    }
    await this.#activeWork.during(() => this.#gone);
  }

  /** Sets the status to report when it ends. The first one counts. */
  setEnding(ending: Ending): void {
    if (!this.isOver) this.#ending ??= ending;
  }

  async pause(): Promise<void> {
    await this.#started;
    if (this.#status === "paused") return;
    if (this.isOver) throw this.#refusal("pause", "it has ended");
    this.#status = "paused";
    this.#timeout?.pause();
    await this.#program?.pause();
    this.#emit("task-pause");
  }

  async resume(): Promise<void> {
    await this.#started; // as pause() does: the last call wins
    if (this.#status !== "paused") {
      if (this.isOver) throw this.#refusal("resume", "it has ended");
      return;
    }
    this.#status = "running";
    this.#timeout?.resume();
    await this.#program?.resume();
    this.#emit("task-resume");
  }

  async write(data: string | Uint8Array): Promise<void> {
    checkInput(data);
    if (this.isOver) throw this.#refusal("write to", "it has ended");
    if (!this.#isInputOpen) throw this.#refusal("write to", "its input is closed. Start it with stdin: 'open'");
    if (this.#unreadBytes > MAX_UNREAD_BYTES)
      throw this.#refusal("write to", `${this.#unreadBytes} bytes wait to be read already. Await each write`);
    this.#unreadBytes += data.length;
    try {
      await this.#started;
      if ((await this.#program?.write(data)) === true) return;
    } finally {
      this.#unreadBytes -= data.length;
    }
    throw this.#refusal("write to", "nobody reads its input any more");
  }

  closeInput(): void {
    this.#isInputOpen = false;
    void this.#started.then(() => this.#program?.closeInput());
  }

  onOutput(stream: OutputStream, chunk: Buffer): void {
    this.#seq += 1;
    this.appendOutput(stream, chunk, this.#seq, Date.now());
  }

  onExit(exit: ProgramExit, usage: ProgramUsage): void {
    this.#recordUsage(usage);
    this.#exitCode = toExitCode(exit);
    this.#isBackground = exit.isLeft;
    const failure = toFailure(exit);
    if (failure !== undefined) this.#ending ??= failure;
    if (this.#ending === undefined) this.#finish();
    // It is over when no process is left. The others keep their grace time even if the shell ended at once.
    else if (exit.isLeft && this.#killTimer === undefined) this.#program?.kill();
  }

  onGone(usage: ProgramUsage): void {
    this.#recordUsage(usage);
    this.#markGone();
  }

  protected override startEvent(): TaskEvent {
    const { id: taskId, command, sessionId } = this;
    return { type: "task-start", taskId, seq: 0, time: this.#startedAt, command, sessionId };
  }

  protected override deltaEvent({ seq, time }: Stamp, stream: OutputStream, text: string): TaskEvent {
    return { type: "output-delta", taskId: this.id, seq, time, stream, text };
  }

  protected override gapEvent({ seq, time }: Stamp, stream: OutputStream, omittedBytes: number): TaskEvent {
    return { type: "output-gap", taskId: this.id, seq, time, stream, omittedBytes };
  }

  protected override lastEvent(): TaskEvent {
    const { status, exitCode, why } = this.#state();
    return { type: "task-end", taskId: this.id, ...this.#endStamp, status, exitCode, why };
  }

  async #start({ lease: openLease, stdin, timeoutMs, cwd, env }: ShellTaskSettings): Promise<void> {
    try {
      const lease = await openLease(this);
      this.#lease = lease;
      if (this.#isGone) {
        lease.release();
        return;
      }
      const spec = {
        command: this.command,
        cwd: cwd === undefined || posix.isAbsolute(cwd) ? (cwd ?? lease.cwd) : posix.join(lease.cwd, cwd),
        env: { ...lease.env, ...env },
        hasInput: stdin !== "none",
      };
      this.#program = lease.start(spec, this);
    } catch (error) {
      this.#ending ??= { status: "failed", why: (error as Error).message };
      this.#markGone();
      return;
    }
    if (typeof timeoutMs === "number")
      this.#timeout = new PausableTimer(timeoutMs, () => void this.stop(timedOut(timeoutMs)));
    if (typeof stdin === "string") return;
    void this.#program.write("text" in stdin ? stdin.text : stdin.bytes);
    this.#program.closeInput();
  }

  /** No process is left. */
  #markGone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#isBackground = false;
    clearTimeout(this.#killTimer);
    this.coverPending();
    this.#finish();
    this.#lease?.release();
    this.#program = undefined; // the task may be kept for long, and the program holds its input
    this.#lease = undefined;
    this.#onGone();
  }

  #finish(): void {
    if (this.isOver) return;
    this.#status = this.#ending?.status ?? "completed";
    this.#endedAt = Date.now();
    this.#seq += 1;
    this.#endStamp = { seq: this.#seq, time: this.#endedAt };
    this.#timeout?.stop();
    this.#stopListening();
    this.end();
    this.#onEnd();
  }

  #emit(type: "task-pause" | "task-resume"): void {
    this.#seq += 1;
    if (!this.isOver) this.appendEvent({ type, taskId: this.id, seq: this.#seq, time: Date.now() });
  }

  #recordUsage({ cpuMs, peakBytes }: ProgramUsage): void {
    const { peakMemoryBytes } = this.#usage;
    this.#usage = { cpuMs, peakMemoryBytes: Math.max(peakMemoryBytes, peakBytes) };
  }

  #state(): TaskState {
    return {
      sessionId: this.sessionId,
      status: this.#status,
      exitCode: this.#exitCode,
      why: this.isOver ? (this.#ending?.why ?? null) : null,
      durationMs: (this.#endedAt ?? Date.now()) - this.#startedAt,
      usage: this.#usage,
      background: this.#isBackground,
    };
  }

  #toResult(): TaskResult {
    return { taskId: this.id, ...this.#state(), ...this.printed.summary() };
  }

  #refusal(action: string, why: string): TaskStateError {
    return new TaskStateError({ action, taskId: this.id, why });
  }
}

function timedOut(timeoutMs: number): Ending {
  return { status: "timed-out", why: `its time limit of ${timeoutMs / 1000} s had passed` };
}

function toExitCode(exit: ProgramExit): number | null {
  if (exit.kind === "code") return exit.code;
  return exit.kind === "signal" ? 128 + exit.signal : null;
}

/** Undefined: it ended on its own. */
function toFailure(exit: ProgramExit): Ending | undefined {
  if (exit.kind === "not-started") return { status: "failed", why: exit.why };
  if (exit.kind === "sandbox-gone") return { status: "failed", why: "its sandbox ended" };
  if (exit.reason === "memory") return { status: "failed", why: OUT_OF_MEMORY };
  return exit.reason === "closed" ? { status: "cancelled", why: "its session was closed" } : undefined;
}
