// One program of a local sandbox: three pipes, and orders that go through the fork server to the sandbox's init.
//
// What to run goes into the input pipe as soon as there is one, before anything that is written for the program itself.

import type { OutputStream } from "../../protocol/execution.ts";
import type { KillReason, Program, ProgramExit, ProgramListener, ProgramSpec, ProgramUsage } from "../environment.ts";
import type { ForkServer, ProgramEvent } from "./fork-server.ts";
import { openPipe, PipeReader, PipeWriter } from "./pipes.ts";

/** More than a pipe holds. */
const DRAIN_LIMIT = 2 * 1024 * 1024;
const LENGTH_DIGITS = 8;
const NOTHING: ProgramUsage = { cpuMs: 0, peakBytes: 0 };

export class LocalProgram implements Program {
  readonly member: number;
  readonly #order: (op: string) => void;
  readonly #listener: ProgramListener;
  readonly #spec: ProgramSpec;
  #input: PipeWriter | undefined;
  #readers: readonly PipeReader[] = [];
  /** Written before there was a pipe. */
  #early: (string | Uint8Array)[] = [];
  #isInputClosed: boolean;
  #state: "running" | "exited" | "gone" = "running";
  readonly #signals: (() => void)[] = [];
  readonly #measures: ((usage: ProgramUsage | null) => void)[] = [];

  constructor(member: number, spec: ProgramSpec, listener: ProgramListener, order: (op: string) => void) {
    this.member = member;
    this.#spec = spec;
    this.#listener = listener;
    this.#order = order;
    this.#isInputClosed = !spec.hasInput;
  }

  async write(data: string | Uint8Array): Promise<boolean> {
    if (this.#isInputClosed || this.#state !== "running") return false;
    if (this.#input === undefined) {
      this.#early.push(data);
      return true;
    }
    this.#send(this.#input, data);
    await this.#input.taken();
    return !this.#isInputClosed;
  }

  closeInput(): void {
    this.#isInputClosed = true;
    const input = this.#input;
    if (input !== undefined) void input.taken().then(() => input.close());
  }

  pause(): Promise<void> {
    return this.#signal("pause-program");
  }

  resume(): Promise<void> {
    return this.#signal("resume-program");
  }

  askToEnd(): void {
    this.#order("ask-program-to-end");
  }

  kill(): void {
    this.#order("kill-program");
  }

  measure(): Promise<ProgramUsage | null> {
    if (this.#state === "gone") return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#measures.push(resolve);
      this.#order("measure-program");
    });
  }

  /** The fork server made its pipes and sent the other ends on. Throws when they cannot be opened. */
  take(server: ForkServer, sandbox: number, fds: readonly number[]): void {
    const [input, stdout, stderr] = fds as [number, number, number];
    const { pid } = server.hello;
    try {
      this.#input = new PipeWriter(openPipe(pid, input, "write"));
      this.#readers = [this.#open("stdout", pid, stdout), this.#open("stderr", pid, stderr)];
    } finally {
      server.order("taken", sandbox, { fds });
    }
    const { command, cwd, env, hasInput } = this.#spec;
    const spec = Buffer.from(JSON.stringify({ command, cwd, env, input: hasInput }));
    this.#input.write(spec.length.toString(16).padStart(LENGTH_DIGITS, "0"));
    this.#input.writeBytes(spec);
    for (const data of this.#early.splice(0)) this.#send(this.#input, data);
    if (this.#isInputClosed) this.closeInput();
  }

  hear(event: ProgramEvent): void {
    switch (event.event) {
      case "program-exit":
        this.#exit(toExit(event), { cpuMs: Math.round((event.cpu ?? 0) * 1000), peakBytes: event.peak ?? 0 });
        break;
      case "program-gone":
        this.#end(toUsage(event));
        break;
      case "program-usage":
        this.#measures.shift()?.(toUsage(event));
        break;
      case "program-signalled":
        this.#signals.shift()?.();
        break;
    }
  }

  /** The sandbox is gone, and it with it. */
  lose(): void {
    this.#exit({ kind: "sandbox-gone", isLeft: false }, NOTHING);
    this.#end(NOTHING);
  }

  fail(why: string): void {
    this.#exit({ kind: "not-started", why, isLeft: false }, NOTHING);
  }

  #exit(exit: ProgramExit, usage: ProgramUsage): void {
    if (this.#state !== "running") return;
    for (const reader of this.#readers) reader.drain(DRAIN_LIMIT);
    this.#state = "exited";
    this.#input?.close();
    this.#listener.onExit(exit, usage);
    if (!exit.isLeft) this.#end(usage);
  }

  #end(usage: ProgramUsage): void {
    if (this.#state === "gone") return;
    for (const reader of this.#readers) reader.drain(DRAIN_LIMIT);
    this.#state = "gone";
    for (const reader of this.#readers) reader.close();
    for (const resolve of this.#signals.splice(0)) resolve();
    for (const resolve of this.#measures.splice(0)) resolve(null);
    this.#listener.onGone(usage);
  }

  #signal(op: string): Promise<void> {
    if (this.#state === "gone") return Promise.resolve();
    return new Promise((resolve) => {
      this.#signals.push(resolve);
      this.#order(op);
    });
  }

  #send(input: PipeWriter, data: string | Uint8Array): void {
    if (typeof data === "string") input.write(data);
    else input.writeBytes(data);
  }

  #open(stream: OutputStream, pid: number, fd: number): PipeReader {
    return new PipeReader(openPipe(pid, fd, "read"), (buffer, length) => {
      if (this.#state !== "gone") this.#listener.onOutput(stream, buffer.subarray(0, length));
    });
  }
}

function toExit(event: Extract<ProgramEvent, { event: "program-exit" }>): ProgramExit {
  const { why, code, signal, left: isLeft = false } = event;
  const reason = (event.reason ?? null) as KillReason | null;
  if (signal !== undefined) return { kind: "signal", signal, reason, isLeft };
  if (code !== undefined) return { kind: "code", code, reason, isLeft };
  return { kind: "not-started", why: why ?? "no process could be started", isLeft: false };
}

function toUsage({ cpu, peak }: { readonly cpu: number; readonly peak: number }): ProgramUsage {
  return { cpuMs: Math.round(cpu * 1000), peakBytes: peak };
}
