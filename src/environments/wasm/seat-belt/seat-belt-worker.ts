// One Node process with Python in it, behind Node's permission model alone.
//
// Its pipes are those of a child process. All that it sends comes through one of them, in order, so there is nothing to drain: what was
// printed before an event is delivered before it. A stream that is paused is kept here up to a bound; after that the pipe is not read.

import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { OutputStream } from "../../../protocol/execution.ts";
import { KILL_LIMIT_MS, type KillReason, type Worker, type WorkerListener } from "../../environment.ts";
import { FrameParser } from "./frame-parser.ts";

const MAX_KEPT_BYTES = 1024 * 1024;
/** How often its memory is checked while code runs, and while none runs: then an inspection may. */
const WATCH_MS = 250;
const IDLE_WATCH_MS = 1_000;
const MAX_ERRORS = 4096;

export interface WorkerProgram {
  readonly executable: string;
  readonly arguments: readonly string[];
  /** A descriptor that the process gets as number 6. */
  readonly image: number;
  readonly cwd: string;
  readonly memoryBytes: number;
  /** The memory that a process has; null if it is gone, or cannot be told. */
  readonly memoryOf: (pid: number) => number | null;
}

export class SeatBeltWorker implements Worker {
  readonly ready: Promise<boolean>;
  readonly gone: Promise<void>;
  readonly #process: ChildProcess;
  readonly #program: WorkerProgram;
  /** What came before there was a listener. */
  readonly #early: Buffer[] = [];
  #earlyBytes = 0;
  readonly #paused = new Set<OutputStream>();
  readonly #kept: { readonly stream: OutputStream; readonly chunk: Buffer }[] = [];
  #keptBytes = 0;
  #mustRead = false;
  #isSandboxGone = false;
  #errors = "";
  #listener: WorkerListener | undefined;
  #parser: FrameParser | undefined;
  #reason: KillReason | null = null;
  #ended = false;
  #watching: NodeJS.Timeout | undefined;

  constructor(program: WorkerProgram) {
    this.#program = program;
    const pipe = "pipe" as const;
    this.#process = spawn(program.executable, program.arguments, {
      stdio: ["ignore", "ignore", "pipe", pipe, pipe, pipe, program.image, pipe],
      env: {},
      cwd: program.cwd,
      detached: process.platform !== "win32", // so that Ctrl-C in a terminal reaches only the host
    });
    this.#process.unref();
    for (const each of this.#process.stdio) {
      each?.on("error", () => {});
      (each as { unref?: () => void } | null)?.unref?.();
    }
    this.#events.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#process.stderr?.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(0, MAX_ERRORS);
      this.#listener?.onOutput("stderr", chunk);
    });
    this.#process.once("exit", () => this.#readRest());
    this.watch(false);
    this.ready = new Promise((resolve) => {
      this.#events.once("data", () => resolve(true));
      this.#process.once("error", () => resolve(false));
      this.#process.once("close", () => resolve(false));
    });
    this.gone = new Promise((resolve) => {
      this.#process.once("error", () => {
        this.#end(1, null);
        resolve();
      });
      this.#process.once("close", (code, signal) => {
        this.#end(code, signal);
        resolve();
      });
    });
  }

  /** Why it ended at its start. */
  get startError(): string {
    const lines = this.#errors.split("\n").filter((line) => line.trim() !== "");
    return lines.find((line) => line.startsWith("worker: "))?.slice(8) ?? lines.at(-1) ?? "it ended at once";
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get ended(): boolean {
    return this.#ended;
  }

  listen(listener: WorkerListener): void {
    this.#listener = listener;
    this.#parser = new FrameParser({
      onEvents: (buffer, length) => listener.onEvents(buffer, length),
      onOutput: (stream, chunk) => this.#output(stream, chunk),
    });
    for (const chunk of this.#early.splice(0)) this.#receive(chunk);
    this.#events.resume();
  }

  command(line: string, payload?: string | Uint8Array): void {
    this.#pipe(3).write(`${line}\n`);
    if (payload !== undefined) this.#pipe(3).write(payload);
  }

  async commandTaken(): Promise<void> {
    await this.#drained(3);
  }

  aside(line: string, payload?: string): void {
    this.#pipe(4).write(`${line}\n${payload ?? ""}`);
  }

  get asideBacklog(): number {
    return this.#ended ? 0 : this.#pipe(4).writableLength;
  }

  async asideTaken(): Promise<void> {
    await this.#drained(4);
  }

  async interrupt(): Promise<void> {
    this.#readRest();
    this.#pipe(7).write("i");
  }

  kill(reason: KillReason): void {
    if (this.#ended) return;
    this.#reason ??= reason;
    this.#process.kill("SIGKILL");
    this.#readRest();
    setTimeout(() => this.#end(null, "SIGKILL"), KILL_LIMIT_MS).unref();
  }

  /** Ends it with its sandbox. */
  endWithSandbox(): void {
    this.#isSandboxGone = true;
    this.kill("closed");
  }

  watch(on: boolean): void {
    clearInterval(this.#watching);
    if (this.#ended) return;
    const check = (): void => {
      const { pid = 0 } = this;
      if ((this.#program.memoryOf(pid) ?? 0) > this.#program.memoryBytes) this.kill("memory");
    };
    this.#watching = setInterval(check, on ? WATCH_MS : IDLE_WATCH_MS).unref();
  }

  drain(stream?: OutputStream): void {
    const kept = this.#kept.splice(0);
    this.#keptBytes = 0;
    for (const each of kept) {
      if (stream === undefined || each.stream === stream) this.#listener?.onOutput(each.stream, each.chunk);
      else this.#keep(each.stream, each.chunk);
    }
  }

  readEvents(): void {}

  pauseOutput(stream: OutputStream): void {
    this.#paused.add(stream);
  }

  resumeOutput(stream: OutputStream): void {
    this.#paused.delete(stream);
    this.drain(stream);
    this.#events.resume();
  }

  /** No process and no thread outlives an execution, so there is nothing to keep apart. */
  async renewStreams(): Promise<void> {}

  get #stdio(): readonly unknown[] {
    return this.#process.stdio;
  }

  get #events(): Readable {
    return this.#stdio[5] as Readable;
  }

  #pipe(index: 3 | 4 | 7): Writable {
    return this.#stdio[index] as Writable;
  }

  #receive(chunk: Buffer): void {
    if (this.#parser === undefined) {
      this.#early.push(chunk);
      this.#earlyBytes += chunk.length;
      if (this.#earlyBytes > MAX_KEPT_BYTES && !this.#mustRead) this.#events.pause();
    } else if (!this.#parser.push(chunk)) this.kill("violation");
  }

  /** Reads on whatever is kept: what is left is bounded, and Node reports the end of a process only after that of its pipes. */
  #readRest(): void {
    this.#mustRead = true;
    this.#events.resume();
  }

  #output(stream: OutputStream, chunk: Buffer): void {
    if (this.#paused.has(stream)) this.#keep(stream, chunk);
    else this.#listener?.onOutput(stream, chunk);
  }

  #keep(stream: OutputStream, chunk: Buffer): void {
    this.#kept.push({ stream, chunk: Buffer.from(chunk) });
    this.#keptBytes += chunk.length;
    if (this.#keptBytes > MAX_KEPT_BYTES && !this.#mustRead) this.#events.pause();
  }

  async #drained(index: 3 | 4): Promise<void> {
    const pipe = this.#pipe(index);
    if (this.#ended || pipe.writableLength === 0) return;
    await Promise.race([this.gone, new Promise((resolve) => pipe.once("drain", resolve))]);
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#watching);
    this.drain();
    const reason = this.#reason;
    const number = signal === null ? 0 : constants.signals[signal];
    if (this.#isSandboxGone) return this.#listener?.onExit({ kind: "sandbox-gone" });
    this.#listener?.onExit(
      signal === null ? { kind: "code", code: code ?? 1, reason } : { kind: "signal", signal: number, reason },
    );
  }
}
