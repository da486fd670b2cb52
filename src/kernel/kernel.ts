// One worker and the conversation with it.
//
// A kernel is idle or running one execution. Calls made from inside are answered by the handler the kernel was opened
// with. When the worker dies the kernel is over; it never restarts itself, because only the session knows what should
// happen to the state that was lost.

import type { KillReason, Worker, WorkerExit } from "../environments/environment.ts";
import type { MimeBundle, OutputStream } from "../protocol/execution.ts";
import {
  toConfigureMessage,
  toExecMessage,
  toFlushMessage,
  toResetMessage,
  toStreamsMessage,
  type ExecCommand,
  type HostMessage,
} from "../protocol/host-messages.ts";
import {
  MAX_IGNORED,
  PROTOCOL_VERSION,
  parseWorkerEvent,
  type CallEvent,
  type StatusEvent,
  type WorkerEvent,
} from "../protocol/worker-events.ts";
import { byteLength } from "../util/byte-length.ts";
import { Calls, type CallHandler } from "./calls.ts";
import { ExecutionClock } from "./execution-clock.ts";
import { FrameReader } from "./frame-reader.ts";

/** What one execution sends up while it runs. Buffers are only valid during the call. */
export interface ExecutionSink {
  onOutput(stream: OutputStream, chunk: Buffer): void;
  onDisplay(data: MimeBundle): void;
  onCall(call: number, name: string): void;
  onReply(call: number, ok: boolean): void;
  /** The last thing that is sent. */
  onEnd(outcome: Outcome): void;
}

/** What a kernel reports beside its executions. */
export interface KernelListener {
  onBackground(stream: OutputStream, chunk: Buffer): void;
  /** The worker ended while nothing ran, or after the outcome of what ran was given. */
  onEnd(exit: WorkerExit): void;
}

export type StopReason = "timeout" | "cancelled";

/** How an execution ended: the worker said so, it was stopped before it started, or the worker is no more. */
export type Outcome =
  | { readonly kind: "unstarted"; readonly durationMs: 0 }
  | {
      readonly kind: "status";
      readonly status: StatusEvent;
      readonly stopped: StopReason | null;
      readonly durationMs: number;
    }
  | {
      readonly kind: "lost";
      readonly exit: WorkerExit;
      readonly violation: string | null;
      readonly durationMs: number;
    };

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
  stopped: StopReason | null;
  grace: NodeJS.Timeout | undefined;
}

export class Kernel {
  readonly #worker: Worker;
  readonly #options: KernelOptions;
  readonly #listener: KernelListener;
  readonly #clock: ExecutionClock;
  readonly #calls: Calls;
  #running: Running | undefined;
  /** Commands that wait for their status, by id. */
  readonly #asked = new Map<string, (status: StatusEvent | undefined) => void>();
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
    this.#running = { id: command.id, sink, calls: undefined, stopped: null, grace: undefined };
    this.#clock.start(limitMs);
    this.#command(toExecMessage(command, byteLength));
  }

  /** Interrupts what runs; after the grace time the worker is ended. Does nothing when nothing runs. */
  stop(reason: StopReason): void {
    const running = this.#running;
    if (running === undefined) this.#stopWaiting();
    if (running === undefined || running.stopped !== null) return;
    running.stopped = reason;
    this.#clock.stop();
    this.#settle(this.#worker.interrupt());
    running.grace = setTimeout(() => this.#insist(running, reason), this.#options.graceMs / 2);
  }

  /**
   * Half of the grace time is over: once more, in case the code swallowed it, and then no more asking. Calls are aborted
   * only now, or when the execution has ended, so that a failed call is never what the code hears of first.
   */
  #insist(running: Running, reason: StopReason): void {
    running.calls?.abort(new Error(`The execution was interrupted: ${reason}`));
    this.#settle(this.#worker.interrupt());
    running.grace = setTimeout(() => this.kill(reason), this.#options.graceMs / 2);
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

  /** Environment variables and working directory of the whole session. `undefined`: the worker was lost. */
  configure(id: string, settings: Parameters<typeof toConfigureMessage>[1]): Promise<StatusEvent | undefined> {
    return this.#ask(id, toConfigureMessage(id, settings));
  }

  reset(id: string): Promise<StatusEvent | undefined> {
    return this.#ask(id, toResetMessage(id));
  }

  async #ask(id: string, message: HostMessage): Promise<StatusEvent | undefined> {
    const timer = setTimeout(() => this.kill("timeout"), ASK_LIMIT_MS);
    try {
      if (this.#settled !== undefined) await this.#settled;
      return await this.#askNow(id, message);
    } finally {
      clearTimeout(timer);
    }
  }

  #askNow(id: string, message: HostMessage): Promise<StatusEvent | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#command(message);
    });
  }

  #hear(message: unknown, bytes: number): void {
    const event = parseWorkerEvent(message);
    const expected = event !== null && this.#dispatch(event, bytes);
    if (!expected && ++this.#ignored > MAX_IGNORED) this.#violate("too many messages that nobody asked for");
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
        if (event.id !== this.#running?.id) return false;
        this.#running.sink.onDisplay(event.data);
        return true;
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
      if (status.survivors) this.#renewStreams(running.id);
      else if (this.#watched) this.#watch(false);
      const durationMs = this.#clock.elapsedMs;
      running.sink.onEnd({ kind: "status", status, stopped: running.stopped, durationMs });
      return true;
    }
    const resolve = this.#asked.get(status.id);
    if (resolve === undefined) return false;
    this.#asked.delete(status.id);
    resolve(status);
    return true;
  }

  #hearOutput(stream: OutputStream, chunk: Buffer): void {
    if (this.#running === undefined) this.#listener.onBackground(stream, chunk);
    else this.#running.sink.onOutput(stream, chunk);
  }

  async #answer(event: CallEvent, bytes: number): Promise<void> {
    if (!this.#calls.admit(event, bytes)) return;
    const running = this.#running?.id === event.id ? this.#running : undefined;
    running?.sink.onCall(event.call, event.name);
    if (running !== undefined) this.#clock.pause();
    const controller = running === undefined ? new AbortController() : (running.calls ??= new AbortController());
    const ok = await this.#calls.answer(event, bytes, controller.signal);
    if (running === undefined || running !== this.#running) return;
    this.#clock.resume();
    running.sink.onReply(event.call, ok);
  }

  /** Late output must never enter the next execution: it waits until the worker has output pipes of its own again. */
  #renewStreams(id: string): void {
    const renew = async (): Promise<void> => {
      await this.#worker.renewStreams();
      await this.#askNow(`${id}/streams`, toStreamsMessage(`${id}/streams`));
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
    clearTimeout(running.grace);
    if (running.stopped !== null) running.calls?.abort(new Error(`The execution was interrupted: ${running.stopped}`));
  }

  #end(exit: WorkerExit): void {
    this.#ended = true;
    this.#exit = exit;
    this.#survivors = false;
    for (const resolve of this.#asked.values()) resolve(undefined);
    this.#asked.clear();
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
