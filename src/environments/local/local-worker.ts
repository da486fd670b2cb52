// One worker of a local sandbox: five pipes, and requests that go through the fork server to the sandbox's init.

import type { OutputStream } from "../../protocol/execution.ts";
import { deferred, type Deferred } from "../../util/async/deferred.ts";
import { KILL_LIMIT_MS, type KillReason, type Worker, type WorkerExit, type WorkerListener } from "../environment.ts";
import type { ForkServer } from "./fork-server.ts";
import type { PipeEnd, PipeReader, PipeWriter } from "./pipes.ts";

/** More than a pipe can contain: whatever follows was written after draining began. */
const DRAIN_LIMIT = 2 * 1024 * 1024;
/** From a kill to the end of the last process. After that the fork server ends the sandbox. */
const GONE_LIMIT_MS = 20_000;
/** How many replaced output pipes are read. Beyond that the oldest is closed. */
const MAX_BACKGROUND = 32;

/** Handling an event may drain the output pipes, and the other way round. Both happen within one call. */
const drainedEvents = Buffer.allocUnsafeSlow(64 * 1024);

export class LocalWorker implements Worker {
  readonly #server: ForkServer;
  readonly #sandbox: number;
  readonly branch: number;
  readonly #commands: PipeWriter;
  readonly #aside: PipeWriter;
  readonly #events: PipeReader;
  #output: OutputPipes;
  readonly #background = new Set<PipeReader>();
  #listener: WorkerListener | undefined;
  /** Events that arrived before `listen`: the `ready` message, since nothing was sent yet. */
  readonly #earlyEvents: Buffer[] = [];
  #isInEvents = false;
  readonly #signals: (() => void)[] = [];
  #renewal: Deferred | undefined;
  #exit: WorkerExit | undefined;
  readonly #ready = deferred();
  /** Resolves when the worker has sent its first event, or has ended. */
  readonly ready = this.#ready.promise;
  /** Set once it is killed. */
  #killed: NodeJS.Timeout | undefined;
  #closer: NodeJS.Timeout | undefined;
  readonly #whenGone = deferred();
  /** Resolves when none of its processes is left, which may be after `onExit`. */
  readonly whenGone = this.#whenGone.promise;

  constructor(server: ForkServer, sandbox: number, branch: number, fds: readonly number[]) {
    this.#server = server;
    this.#sandbox = sandbox;
    this.branch = branch;
    const opened = server.pipes.open(fds.map((fd, index) => [fd, index < 2 ? "write" : "read"]));
    const [commands, aside, events, ...output] = opened as [PipeEnd, PipeEnd, PipeEnd, PipeEnd, PipeEnd];
    this.#commands = commands.writer();
    this.#aside = aside.writer();
    this.#events = events.reader((buffer, length) => this.#receiveEvents(buffer, length), drainedEvents);
    this.#output = this.#readOutput(output);
    server.send("taken", sandbox, { fds });
  }

  listen(listener: WorkerListener): void {
    this.#listener = listener;
    for (const chunk of this.#earlyEvents.splice(0)) listener.onEvents(chunk, chunk.length);
    const exit = this.#exit;
    if (exit !== undefined) queueMicrotask(() => listener.onExit(exit));
  }

  command(line: string, payload?: string | Uint8Array): void {
    if (typeof payload === "string") this.#commands.write(`${line}\n${payload}`);
    else this.#commands.write(`${line}\n`);
    if (payload instanceof Uint8Array) this.#commands.writeBytes(payload);
  }

  commandTaken(): Promise<void> {
    return this.#commands.taken();
  }

  aside(line: string, payload?: string): void {
    this.#aside.write(payload === undefined ? `${line}\n` : `${line}\n${payload}`);
  }

  get asideBacklog(): number {
    return this.#aside.backlog;
  }

  asideTaken(): Promise<void> {
    return this.#aside.taken();
  }

  interrupt(): Promise<void> {
    if (this.ended) return Promise.resolve();
    this.#send("interrupt");
    return new Promise((resolve) => this.#signals.push(resolve));
  }

  kill(reason: KillReason): void {
    if (this.ended) return;
    this.#send("kill", { reason });
    this.#killed ??= setTimeout(() => this.#end({ kind: "signal", signal: 9, reason }), KILL_LIMIT_MS).unref();
    this.#closer ??= setTimeout(() => this.#server.send("close", this.#sandbox), GONE_LIMIT_MS).unref();
  }

  watch(on: boolean): void {
    if (!this.ended) this.#send("watch", { on });
  }

  drain(stream?: OutputStream): void {
    if (stream !== "stderr") this.#output.stdout.drain(DRAIN_LIMIT);
    if (stream !== "stdout") this.#output.stderr.drain(DRAIN_LIMIT);
  }

  readEvents(): void {
    if (!this.#isInEvents) this.#events.drain(DRAIN_LIMIT);
  }

  pauseOutput(stream: OutputStream): void {
    this.#output[stream].pause();
  }

  resumeOutput(stream: OutputStream): void {
    this.#output[stream].resume();
  }

  renewStreams(): Promise<void> {
    if (this.ended) return Promise.resolve();
    this.#send("streams");
    this.#renewal = deferred();
    return this.#renewal.promise;
  }

  /** The fork server acknowledged a signal. */
  signalled(): void {
    this.#signals.shift()?.();
  }

  /** The fork server made a new pair of output pipes and sent the other ends to the worker. */
  replaceOutput(fds: readonly number[]): void {
    const old = this.#output;
    const opened = this.#server.pipes.open(fds.map((fd) => [fd, "read"]));
    this.#output = this.#readOutput(opened);
    this.#server.send("taken", this.#sandbox, { fds });
    this.#retire("stdout", old.stdout);
    this.#retire("stderr", old.stderr);
    this.#renewal?.resolve();
    this.#renewal = undefined;
  }

  /** The process has ended, and all that it started. */
  end(exit: WorkerExit): void {
    this.#end(exit);
    clearTimeout(this.#closer);
    this.#whenGone.resolve();
  }

  /** Delivers what the pipes still contain, then reports the exit. */
  #end(exit: WorkerExit): void {
    if (this.ended) return;
    clearTimeout(this.#killed);
    this.#exit = exit;
    this.#events.drain(DRAIN_LIMIT * 32);
    this.drain();
    for (const reader of this.#background) reader.drain(DRAIN_LIMIT);
    for (const pipe of [this.#commands, this.#aside, this.#events, this.#output.stdout, this.#output.stderr])
      pipe.close();
    for (const reader of this.#background) reader.close();
    for (const resolve of this.#signals.splice(0)) resolve();
    this.#renewal?.resolve();
    this.#ready.resolve();
    this.#listener?.onExit(exit);
  }

  get ended(): boolean {
    return this.#exit !== undefined;
  }

  #send(op: string, details: object = {}): void {
    this.#server.send(op, this.#sandbox, { branch: this.branch, ...details });
  }

  #receiveEvents(buffer: Buffer, length: number): void {
    if (this.#listener !== undefined) {
      this.#isInEvents = true;
      this.#listener.onEvents(buffer, length);
      this.#isInEvents = false;
      return;
    }
    this.#earlyEvents.push(Buffer.from(buffer.subarray(0, length)));
    this.#ready.resolve();
  }

  #readOutput(pipes: readonly PipeEnd[]): OutputPipes {
    const read = (stream: OutputStream, pipe: PipeEnd): PipeReader =>
      pipe.reader((buffer, length) => this.#listener?.onOutput(stream, buffer.subarray(0, length)));
    const [stdout, stderr] = pipes as [PipeEnd, PipeEnd];
    return { stdout: read("stdout", stdout), stderr: read("stderr", stderr) };
  }

  #retire(stream: OutputStream, reader: PipeReader): void {
    this.#background.add(reader);
    const [oldest] = this.#background;
    if (this.#background.size > MAX_BACKGROUND && oldest !== undefined) {
      this.#background.delete(oldest);
      oldest.close();
    }
    reader.redirect((buffer, length) => this.#listener?.onBackground(stream, buffer.subarray(0, length)));
    reader.onEnd = () => this.#background.delete(reader);
  }
}

interface OutputPipes {
  readonly stdout: PipeReader;
  readonly stderr: PipeReader;
}
