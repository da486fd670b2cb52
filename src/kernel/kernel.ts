// One worker and the conversation with it.
//
// A kernel is idle or running one execution. Calls made from inside are answered by the handler the kernel was opened
// with. When the worker dies the kernel is over; it never restarts itself, because only the session knows what should
// happen to the state that was lost.

import type { KillReason, Worker, WorkerExit } from "../environments/environment.ts";
import type { DisplayPart } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import {
  toCommandMessage,
  toExecMessage,
  toFlushMessage,
  type ExecCommand,
  type HostCommand,
  type HostMessage,
  type HostQuestion,
} from "../protocol/worker/host-messages.ts";
import { INPUT_CALL, MAX_IGNORED, PROTOCOL_VERSION } from "../protocol/worker/limits.ts";
import { parseWorkerEvent } from "../protocol/worker/parse-worker-event.ts";
import type { CallEvent, DisplayEvent, StatusEvent, WorkerEvent } from "../protocol/worker/worker-events.ts";
import { byteLength } from "../util/bytes/byte-length.ts";
import { Asks, type AskOptions, type ChunkSink } from "./asks.ts";
import { sendBulk } from "./bulk.ts";
import { Calls, type CallHandler, type HostCall } from "./calls.ts";
import { ExecutionClock, WATCH_AFTER_MS } from "./execution-clock.ts";
import { FrameReader } from "./frame-reader.ts";
import type { Outcome, StopReason } from "./outcome.ts";
import { Stopping } from "./stopping.ts";

export type { Outcome, StopReason } from "./outcome.ts";

/** What one execution sends up while it runs. Buffers are only valid during the call. */
export interface ExecutionSink {
  onOutput(stream: OutputStream, chunk: Buffer): void;
  onDisplay(display: DisplayPart): void;
  onCall(call: number, name: string): void;
  onReply(call: number, ok: boolean): void;
  /** Code asks for input. Resolves with the answer as the worker takes it; what it throws is told to the code. */
  onInput(call: number, asked: HostCall): Promise<unknown>;
  /** The last thing that is sent. */
  onEnd(outcome: Outcome): void;
}

/** What a kernel reports beside its executions. */
export interface KernelListener {
  onBackground(stream: OutputStream, chunk: Buffer): void;
  /** The worker ended while nothing ran, or after the outcome of what ran was given. */
  onEnd(exit: WorkerExit): void;
}

export interface KernelOptions {
  readonly onCall: CallHandler;
  /** Between an interrupt and the end of the worker. */
  readonly graceMs: number;
}

/** For what the worker does by itself: a reset may run finalisers. */
const ASK_LIMIT_MS = 15_000;
/** Between two executions: for a signal to be sent, for new output pipes to be taken. */
const SETTLE_LIMIT_MS = 5_000;

interface Waiting {
  readonly sink: ExecutionSink;
  isStopped: boolean;
}

interface Running {
  readonly id: string;
  readonly sink: ExecutionSink;
  calls: AbortController | undefined;
  stopping: Stopping | undefined;
}

/** A command that is not an execution, while the worker's main thread is at it. */
interface Asking {
  stopping: Stopping | undefined;
}

export class Kernel {
  readonly #worker: Worker;
  readonly #options: KernelOptions;
  readonly #listener: KernelListener;
  readonly #clock: ExecutionClock;
  readonly #calls: Calls;
  #running: Running | undefined;
  readonly #asks = new Asks();
  #asking: Asking | undefined;
  /** Settles when the worker may be given the next command. */
  #settled: Promise<void> | undefined;
  /** The execution that waits for the worker to settle. */
  #waiting: Waiting | undefined;
  #ignored = 0;
  #watched = false;
  #survivors = false;
  #greeted = false;
  #violation: string | null = null;
  #ended = false;
  #exit: WorkerExit = { kind: "sandbox-gone" };

  constructor(worker: Worker, options: KernelOptions, listener: KernelListener) {
    this.#worker = worker;
    this.#options = options;
    this.#listener = listener;
    this.#clock = new ExecutionClock({
      onFlush: () => this.#running !== undefined && this.#aside(toFlushMessage(this.#running.id)),
      onWatch: () => this.#watch(true),
      onTimeout: () => this.stop("timeout"),
    });
    this.#calls = new Calls(worker, options.onCall, (why) => this.#violate(why));
    const frames = new FrameReader(
      (message, bytes) => this.#hear(message, bytes),
      (why) => this.#violate(why),
      (header) => this.#asks.sinkOf(header) ?? this.#ignore(),
    );
    worker.listen({
      onEvents: (buffer, length) => frames.push(buffer, length),
      onOutput: (stream, chunk) => this.#hearOutput(stream, chunk),
      onBackground: (stream, chunk) => listener.onBackground(stream, chunk),
      onExit: (exit) => this.#end(exit),
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Threads or processes of earlier executions are still alive in the sandbox. */
  get hasSurvivors(): boolean {
    return this.#survivors;
  }

  /** Runs code and tells the sink how it ended. Must not be called while something runs. */
  execute(command: ExecCommand, limitMs: number | null, sink: ExecutionSink): void {
    if (this.#settled === undefined) this.#start(command, limitMs, sink);
    else void this.#startWhenSettled(this.#settled, command, limitMs, sink);
  }

  /** A worker that does not settle in good time is ended. An execution that is stopped while it waits never starts. */
  async #startWhenSettled(
    settled: Promise<void>,
    command: ExecCommand,
    limitMs: number | null,
    sink: ExecutionSink,
  ): Promise<void> {
    const timer = setTimeout(() => this.kill("timeout"), SETTLE_LIMIT_MS);
    const waiting: Waiting = { sink, isStopped: false };
    this.#waiting = waiting;
    await settled;
    clearTimeout(timer);
    if (waiting.isStopped) return;
    this.#waiting = undefined;
    this.#start(command, limitMs, sink);
  }

  #start(command: ExecCommand, limitMs: number | null, sink: ExecutionSink): void {
    if (this.#ended) {
      sink.onEnd({ kind: "lost", exit: this.#exit, violation: this.#violation, durationMs: 0 });
      return;
    }
    this.#ignored = 0;
    this.#running = { id: command.id, sink, calls: undefined, stopping: undefined };
    this.#clock.start(limitMs);
    this.#command(toExecMessage(command, byteLength));
  }

  /** Interrupts what runs; after the grace time the worker is ended. Does nothing when nothing runs. */
  stop(reason: StopReason): void {
    const active = this.#running ?? this.#asking;
    if (active === undefined) this.#stopWaiting();
    if (active === undefined || active.stopping !== undefined) return;
    if (active === this.#running) this.#clock.stop();
    active.stopping = new Stopping(reason, this.#options.graceMs, {
      interrupt: () => this.#settle(this.#worker.interrupt()),
      insist: () => {
        // Calls are aborted only now, or when the execution has ended, so that a failed call is never what the code
        // hears of first.
        this.#running?.calls?.abort(new Error(`The execution was interrupted: ${reason}`));
        this.#settle(this.#worker.interrupt());
      },
      kill: () => this.kill(reason),
    });
  }

  #stopWaiting(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    waiting.isStopped = true;
    waiting.sink.onEnd({ kind: "unstarted", durationMs: 0 });
  }

  /** Ends the worker and everything it started. */
  kill(reason: KillReason): void {
    this.#worker.kill(reason);
  }

  /**
   * Asks for something that is not an execution, when nothing runs. It can be stopped as an execution can, and is at
   * the limit. `undefined`: the worker was lost.
   */
  async ask(command: HostCommand, options: AskOptions = {}): Promise<StatusEvent | undefined> {
    const { limitMs = ASK_LIMIT_MS, source } = options;
    const timer = limitMs === null ? undefined : setTimeout(() => this.stop("timeout"), limitMs);
    const watcher = setTimeout(() => this.#watch(true), WATCH_AFTER_MS);
    const asking: Asking = { stopping: undefined };
    this.#asking = asking;
    try {
      if (this.#settled !== undefined) await this.#settled;
      const answer = this.#askNow(command, options.sink);
      const isWanted = (): boolean => !this.#ended && asking.stopping === undefined;
      if (source !== undefined && !this.#ended) await sendBulk(this.#worker, source, isWanted);
      return await answer;
    } finally {
      clearTimeout(timer);
      clearTimeout(watcher);
      asking.stopping?.end();
      this.#asking = undefined;
      if (this.#watched && !this.#survivors) this.#watch(false);
    }
  }

  /**
   * Asks beside whatever runs, which is never disturbed. "unheard": there was no answer within the limit, because the
   * running code holds the interpreter. `undefined`: the worker was lost.
   */
  askAside(question: HostQuestion, limitMs: number): Promise<StatusEvent | "unheard" | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    return this.#asks.askWithin(limitMs, (id) => this.#aside(toCommandMessage(id, question)));
  }

  #askNow(command: HostCommand, sink?: ChunkSink): Promise<StatusEvent | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    return this.#asks.ask((id) => this.#command(toCommandMessage(id, command)), sink);
  }

  #hear(message: unknown, bytes: number): void {
    const event = parseWorkerEvent(message);
    const expected = event !== null && this.#dispatch(event, bytes);
    if (!expected) this.#ignore();
  }

  #ignore(): () => void {
    if (++this.#ignored > MAX_IGNORED) this.#violate("too many messages that nobody asked for");
    return () => {};
  }

  /** True when the event was expected. */
  #dispatch(event: WorkerEvent, bytes: number): boolean {
    switch (event.type) {
      case "ready":
        if (event.protocol !== PROTOCOL_VERSION) this.#violate(`it speaks version ${event.protocol} of the protocol`);
        return !this.#greeted && (this.#greeted = true);
      case "status":
        return this.#hearStatus(event);
      case "display":
        return this.#hearDisplay(event);
      case "call":
        void this.#answer(event, bytes);
        return true;
    }
  }

  #hearStatus(status: StatusEvent): boolean {
    const running = this.#running;
    if (running !== undefined && status.id === running.id) {
      if (status.pending) this.#worker.drain();
      this.#running = undefined;
      this.#finish(running);
      this.#survivors = status.survivors;
      if (status.survivors) this.#renewStreams();
      else if (this.#watched) this.#watch(false);
      const durationMs = this.#clock.elapsedMs;
      running.sink.onEnd({ kind: "status", status, stopped: running.stopping?.reason ?? null, durationMs });
      return true;
    }
    return this.#asks.hear(status);
  }

  /** What was printed before it comes before it: the worker prints no more until it hears that the display was taken. */
  #hearDisplay({ type: _type, id, call, ...display }: DisplayEvent): boolean {
    const running = this.#running?.id === id ? this.#running : undefined;
    if (running !== undefined) {
      this.#worker.drain();
      running.sink.onDisplay(display);
    }
    this.#calls.acknowledge(id, call);
    return running !== undefined;
  }

  #hearOutput(stream: OutputStream, chunk: Buffer): void {
    if (this.#running === undefined) this.#listener.onBackground(stream, chunk);
    else this.#running.sink.onOutput(stream, chunk);
  }

  async #answer(event: CallEvent, bytes: number): Promise<void> {
    if (!this.#calls.admit(event, bytes)) return;
    const running = this.#running?.id === event.id ? this.#running : undefined;
    const isInput = event.name === INPUT_CALL;
    if (isInput) this.#worker.drain(); // what was printed before the question comes before it
    else running?.sink.onCall(event.call, event.name);
    if (running !== undefined) this.#clock.pause();
    const controller = running === undefined ? new AbortController() : (running.calls ??= new AbortController());
    const handler = isInput ? toInputHandler(event.call, running?.sink) : undefined;
    const ok = await this.#calls.answer(event, bytes, controller.signal, handler);
    if (running === undefined || running !== this.#running) return;
    this.#clock.resume();
    if (!isInput) running.sink.onReply(event.call, ok);
  }

  /** Late output must never enter the next execution: it waits until the worker has output pipes of its own again. */
  #renewStreams(): void {
    const renew = async (): Promise<void> => {
      await this.#worker.renewStreams();
      await this.#askNow({ cmd: "streams" });
    };
    this.#settle(renew());
  }

  #settle(work: Promise<void>): void {
    const before = this.#settled;
    const wait = async (): Promise<void> => {
      await Promise.allSettled([before, work]);
      if (this.#settled === settled) this.#settled = undefined;
    };
    const settled = wait();
    this.#settled = settled;
  }

  #watch(on: boolean): void {
    this.#watched = on;
    this.#worker.watch(on);
  }

  #violate(why: string): void {
    this.#violation ??= why;
    this.#worker.kill("violation");
  }

  #finish(running: Running): void {
    this.#clock.stop();
    if (running.stopping === undefined) return;
    running.stopping.end();
    running.calls?.abort(new Error(`The execution was interrupted: ${running.stopping.reason}`));
  }

  #end(exit: WorkerExit): void {
    this.#ended = true;
    this.#exit = exit;
    this.#survivors = false;
    this.#asks.end();
    const running = this.#running;
    if (running === undefined) {
      this.#listener.onEnd(exit);
      return;
    }
    this.#running = undefined;
    this.#finish(running);
    running.calls?.abort(new Error("The worker was lost"));
    this.#listener.onEnd(exit);
    const durationMs = this.#clock.elapsedMs;
    running.sink.onEnd({ kind: "lost", exit, violation: this.#violation, durationMs });
  }

  #command({ line, payload }: HostMessage): void {
    this.#worker.command(line, payload);
  }

  #aside({ line, payload }: HostMessage): void {
    this.#worker.aside(line, payload);
  }
}

/** What outlives its execution has nobody to ask. */
function toInputHandler(call: number, sink: ExecutionSink | undefined): CallHandler {
  return async (asked) => {
    if (sink === undefined) throw new Error("the execution that could ask for input has ended");
    return sink.onInput(call, asked);
  };
}
