// One worker and the conversation with it.
//
// A kernel is idle or runs one execution. Calls from inside are answered by the handler that the kernel was opened with. A kernel ends with
// its worker and never restarts it, because only the session knows what to do about the lost state.

import { KILL_LIMIT_MS, type KillReason, type Worker, type WorkerExit } from "../environments/environment.ts";
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
import { INPUT_CALL, PROTOCOL_VERSION } from "../protocol/worker/limits.ts";
import { parseWorkerEvent } from "../protocol/worker/parse-worker-event.ts";
import type {
  CallEvent,
  DisplayEvent,
  PayloadHeader,
  StatusEvent,
  WorkerEvent,
} from "../protocol/worker/worker-events.ts";
import { byteLength } from "../util/bytes/byte-length.ts";
import { PendingRequests, type ChunkSink, type RequestOptions } from "./pending-requests.ts";
import { sendBulk } from "./bulk/send-bulk.ts";
import { Calls, toInputHandler, type CallOptions } from "./calls.ts";
import { ExecutionClock, WATCH_AFTER_MS } from "./execution-clock.ts";
import { FrameReader } from "./frame-reader.ts";
import type { ExecutionListener, KernelListener } from "./listeners.ts";
import type { StopReason } from "./outcome.ts";
import { OutputFlow } from "./output-flow.ts";
import { OutputOrder } from "./output-order.ts";
import type { ActiveRequest, Running, WaitingExecution } from "./running-execution.ts";
import { StopSequence } from "./stop-sequence.ts";

export interface KernelOptions extends CallOptions {
  /** Between an interrupt and the end of the worker. */
  readonly graceMs: number;
}

/** For requests without a limit of their own: a reset may run finalizers. */
const REQUEST_LIMIT_MS = 15_000;
/** From the kill of a worker to the result of its execution, whatever the code does. The worker is given up before that. */
const RESULT_LIMIT_MS = KILL_LIMIT_MS + 500;
/** Between two executions: for an interrupt to be sent, for new output pipes to be in use. */
const SETTLE_LIMIT_MS = 5_000;

export class Kernel {
  readonly #worker: Worker;
  readonly #options: KernelOptions;
  readonly #listener: KernelListener;
  readonly #clock: ExecutionClock;
  readonly #calls: Calls;
  readonly #frames: FrameReader;
  readonly #flow: OutputFlow;
  readonly #order: OutputOrder;
  #running: Running | undefined;
  readonly #requests = new PendingRequests();
  #request: ActiveRequest | undefined;
  /** Pending while the worker must not get another command. */
  #settled: Promise<void> | undefined;
  /** The execution that waits for `#settled`. */
  #waiting: WaitingExecution | undefined;
  #watched = false;
  #survivors = false;
  #greeted = false;
  #violation: string | null = null;
  #killedAt: number | undefined;
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
    this.#calls = new Calls(worker, this.#requests, options, (why) => this.#violate(why));
    this.#flow = new OutputFlow(worker, () => this.#order.resume());
    this.#order = new OutputOrder(worker, this.#flow, (stream, chunk) => this.#receiveOutput(stream, chunk));
    this.#frames = new FrameReader({
      onMessage: (message, bytes) => this.#receive(message, bytes),
      onViolation: (why) => this.#violate(why),
      isWanted: (header, bytes) => this.#isWanted(header, bytes),
      onChunk: (header) => this.#requests.sinkOf(header),
    });
    worker.listen({
      onEvents: (buffer, length) => this.#frames.push(buffer, length),
      onOutput: (stream, chunk) => this.#order.receive(stream, chunk),
      onBackground: (stream, chunk) => listener.onBackground(stream, chunk),
      onExit: (exit) => this.#end(exit),
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether it was ended because it used too much memory. */
  get isOutOfMemory(): boolean {
    return this.#ended && "reason" in this.#exit && this.#exit.reason === "memory";
  }

  /** Whether threads or processes of earlier executions are still alive. */
  get hasSurvivors(): boolean {
    return this.#survivors;
  }

  /** Runs code and reports to the listener. Must not be called while something runs. */
  execute(command: ExecCommand, limitMs: number | null, listener: ExecutionListener): void {
    if (this.#settled === undefined) this.#start(command, limitMs, listener);
    else void this.#startWhenSettled(this.#settled, command, limitMs, listener);
  }

  /** Kills a worker that does not settle in time. An execution that is stopped while it waits never starts. */
  async #startWhenSettled(
    settled: Promise<void>,
    command: ExecCommand,
    limitMs: number | null,
    listener: ExecutionListener,
  ): Promise<void> {
    const timer = setTimeout(() => this.kill("timeout"), SETTLE_LIMIT_MS);
    const waiting: WaitingExecution = { listener, isStopped: false };
    this.#waiting = waiting;
    await settled;
    clearTimeout(timer);
    if (waiting.isStopped) return;
    this.#waiting = undefined;
    this.#start(command, limitMs, listener);
  }

  #start(command: ExecCommand, limitMs: number | null, listener: ExecutionListener): void {
    if (this.#ended) {
      listener.onEnd({ kind: "lost", exit: this.#exit, violation: this.#violation, durationMs: 0 });
      return;
    }
    this.#frames.forgetIgnored();
    this.#running = { id: command.id, listener, calls: undefined, stopping: undefined };
    this.#clock.start(limitMs);
    this.#command(toExecMessage(command, byteLength));
  }

  /** Interrupts what runs, and kills the worker after the grace time. Does nothing when nothing runs. */
  stop(reason: StopReason): void {
    const active = this.#running ?? this.#request;
    if (active === undefined) this.#stopWaiting();
    if (active === undefined || active.stopping !== undefined) return;
    if (active === this.#running) {
      this.#clock.stop();
      this.#flow.makeRoom();
    }
    active.stopping = new StopSequence(reason, this.#options.graceMs, {
      interrupt: () => this.#settle(this.#worker.interrupt()),
      interruptAgain: () => {
        // Calls are aborted only now, or at the end of the execution, so that the code sees the interrupt before a failed call.
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
    waiting.listener.onEnd({ kind: "unstarted", durationMs: 0 });
  }

  /** Kills the worker and everything it started. */
  kill(reason: KillReason): void {
    this.#killedAt ??= performance.now();
    this.#worker.kill(reason);
  }

  /** Sends a request while nothing runs. It is stopped like an execution, also at its limit. Undefined: the worker was lost. */
  async request(command: HostCommand, options: RequestOptions = {}): Promise<StatusEvent | undefined> {
    const { limitMs = REQUEST_LIMIT_MS, source } = options;
    const timer = limitMs === null ? undefined : setTimeout(() => this.stop("timeout"), limitMs);
    const watcher = setTimeout(() => this.#watch(true), WATCH_AFTER_MS);
    const request: ActiveRequest = { stopping: undefined };
    this.#request = request;
    try {
      if (this.#settled !== undefined) await this.#settled;
      const answer = this.#send(command, options.sink);
      const isWanted = (): boolean => !this.#ended && request.stopping === undefined;
      if (source !== undefined && !this.#ended) await sendBulk(this.#worker, source, isWanted);
      return await answer;
    } finally {
      clearTimeout(timer);
      clearTimeout(watcher);
      request.stopping?.end();
      this.#request = undefined;
      if (this.#watched && !this.#survivors) this.#watch(false);
    }
  }

  /**
   * Sends a query that is answered while code runs, without disturbing it. "timeout": no reply within the limit, because the running code
   * holds the interpreter. Undefined: the worker was lost.
   */
  query(question: HostQuestion, limitMs: number): Promise<StatusEvent | "timeout" | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    return this.#requests.addWithin(limitMs, (id) => this.#aside(toCommandMessage(id, question)));
  }

  #send(command: HostCommand, sink?: ChunkSink): Promise<StatusEvent | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    return this.#requests.add((id) => this.#command(toCommandMessage(id, command)), sink);
  }

  #receive(message: unknown, bytes: number): void {
    const event = parseWorkerEvent(message);
    const expected = event !== null && this.#dispatch(event, bytes);
    if (!expected) this.#frames.ignore(bytes);
  }

  /** Whether to parse a large message, decided by the line before it. One that waits for a reply is answered in any case. */
  #isWanted(header: PayloadHeader | undefined, bytes: number): boolean {
    if (header?.type === "call" && header.call !== undefined) return this.#calls.hasRoom(header.id, header.call, bytes);
    const isRunning = header !== undefined && header.id === this.#running?.id;
    if (header?.type === "status" && (isRunning || this.#requests.has(header.id))) return true;
    if (header?.type === "display" && header.call !== undefined) {
      if (isRunning) return true;
      this.#calls.acknowledge(header.id, header.call);
    }
    this.#frames.ignore(bytes);
    return false;
  }

  /** Whether the event was expected. */
  #dispatch(event: WorkerEvent, bytes: number): boolean {
    switch (event.type) {
      case "ready":
        if (event.protocol !== PROTOCOL_VERSION) this.#violate(`it speaks version ${event.protocol} of the protocol`);
        return !this.#greeted && (this.#greeted = true);
      case "status":
        return this.#receiveStatus(event);
      case "display":
        return this.#receiveDisplay(event, bytes);
      case "call":
        void this.#answer(event, bytes);
        return true;
      case "order":
        if (event.call !== undefined) this.#calls.acknowledge(this.#running?.id ?? "", event.call);
        return this.#order.mark(event);
    }
  }

  #receiveStatus(status: StatusEvent): boolean {
    const running = this.#running;
    if (running !== undefined && status.id === running.id) {
      this.#order.end({ pending: status.pending });
      this.#running = undefined;
      this.#finish(running);
      this.#survivors = status.survivors;
      if (status.survivors) this.#renewStreams();
      else if (this.#watched) this.#watch(false);
      const durationMs = this.#clock.elapsedMs;
      running.listener.onEnd({ kind: "status", status, stopped: running.stopping?.reason ?? null, durationMs });
      return true;
    }
    return this.#requests.resolve(status);
  }

  #receiveDisplay(event: DisplayEvent, bytes: number): boolean {
    const running = this.#running?.id === event.id ? this.#running : undefined;
    if (running !== undefined && this.#flow.isHeld) {
      void this.#calls.acknowledgeAfter(event, bytes, async () => {
        await this.#flow.untilFree();
        if (running === this.#running) this.#show(running, event, bytes);
      });
    } else {
      if (running !== undefined) this.#show(running, event, bytes);
      this.#calls.acknowledge(event.id, event.call);
    }
    return running !== undefined;
  }

  /** Output printed before a display comes first: the worker prints no more until the display is acknowledged. */
  #show(running: Running, { type: _type, id: _id, call: _call, ...display }: DisplayEvent, bytes: number): void {
    this.#order.flush({ pending: true });
    const taken = running.listener.onDisplay(display);
    if (taken !== undefined) this.#flow.hold(running.listener.isOnePlace ? "both" : "stdout", bytes, taken);
  }

  #receiveOutput(stream: OutputStream, chunk: Buffer): void {
    if (this.#running === undefined) {
      this.#listener.onBackground(stream, chunk);
      return;
    }
    const { listener } = this.#running;
    const taken = listener.onOutput(stream, chunk);
    if (taken !== undefined) this.#flow.hold(listener.isOnePlace ? "both" : stream, chunk.length, taken);
  }

  async #answer(event: CallEvent, bytes: number): Promise<void> {
    if (!this.#calls.admit(event, bytes)) return;
    const isInput = event.name === INPUT_CALL;
    if (isInput && this.#flow.isHeld) await this.#flow.untilFree();
    const running = this.#running?.id === event.id ? this.#running : undefined;
    if (isInput) this.#order.flush({ pending: true }); // output printed before the question comes first
    else running?.listener.onCall(event.call, event.name);
    if (running !== undefined) this.#clock.pause();
    const controller = running === undefined ? new AbortController() : (running.calls ??= new AbortController());
    const handler = isInput ? toInputHandler(event.call, running?.listener) : undefined;
    const ok = await this.#calls.answer(event, bytes, controller.signal, handler);
    if (running === undefined || running !== this.#running) return;
    this.#clock.resume();
    if (!isInput) running.listener.onReply(event.call, ok);
  }

  /** Late output must not enter the next execution, which waits until the worker uses new output pipes. */
  #renewStreams(): void {
    const renew = async (): Promise<void> => {
      await this.#worker.renewStreams();
      await this.#send({ cmd: "streams" });
      this.#order.end({ pending: false });
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
    this.kill("violation");
  }

  #finish(running: Running): void {
    this.#clock.stop();
    this.#flow.end();
    if (running.stopping === undefined) return;
    running.stopping.end();
    running.calls?.abort(new Error(`The execution was interrupted: ${running.stopping.reason}`));
  }

  #end(exit: WorkerExit): void {
    this.#ended = true;
    this.#exit = exit;
    this.#survivors = false;
    this.#requests.close();
    this.#order.end({ pending: false });
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
    running.listener.onEnd({ kind: "lost", exit, violation: this.#violation, durationMs, ...this.#restoreLimit() });
  }

  #restoreLimit(): { readonly restoreLimitMs?: number } {
    if (this.#killedAt === undefined) return {};
    return { restoreLimitMs: Math.max(0, this.#killedAt + RESULT_LIMIT_MS - performance.now()) };
  }

  #command({ line, payload }: HostMessage): void {
    this.#worker.command(line, payload);
  }

  #aside({ line, payload }: HostMessage): void {
    this.#worker.aside(line, payload);
  }
}
