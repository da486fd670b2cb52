// One program of a local sandbox: three pipes, and requests that go through the fork server to the sandbox's init.
//
// The init reads the command from the input pipe. What is written after that is the program's own input.

import type { OutputStream } from "../../protocol/execution.ts";
import { deferred, type Deferred } from "../../util/async/deferred.ts";
import type { KillReason, Program, ProgramExit, ProgramListener, ProgramSpec, ProgramUsage } from "../environment.ts";
import type { ProgramEvent } from "./fork-server-messages.ts";
import type { ForkServer } from "./fork-server.ts";
import type { PipeEnd, PipeReader, PipeWriter } from "./pipes.ts";

/** More than a pipe can contain. */
const DRAIN_LIMIT = 2 * 1024 * 1024;
const LENGTH_DIGITS = 8;
const NO_USAGE: ProgramUsage = { cpuMs: 0, peakBytes: 0 };

interface ProgramOwner {
  readonly send: (op: string) => void;
  readonly onGone: () => void;
}

export class LocalProgram implements Program {
  readonly member: number;
  readonly #owner: ProgramOwner;
  readonly #listener: ProgramListener;
  readonly #spec: ProgramSpec;
  #input: PipeWriter | undefined;
  readonly #readers: PipeReader[] = [];
  /** Resolves when the input pipe is open, or the program has ended without one. */
  readonly #attached = deferred();
  #isInputClosed: boolean;
  #state: "running" | "exited" | "gone" = "running";
  readonly #signals: (() => void)[] = [];
  #measuring: Deferred<ProgramUsage | null> | undefined;

  constructor(member: number, spec: ProgramSpec, listener: ProgramListener, owner: ProgramOwner) {
    this.member = member;
    this.#spec = spec;
    this.#listener = listener;
    this.#owner = owner;
    this.#isInputClosed = !spec.hasInput;
  }

  async write(data: string | Uint8Array): Promise<boolean> {
    if (this.#isInputClosed) return false;
    await this.#attached.promise;
    const input = this.#input;
    if (input === undefined || this.#state !== "running") return false;
    if (typeof data === "string") input.write(data);
    else input.writeBytes(data);
    await input.taken();
    return input.hasReader;
  }

  closeInput(): void {
    this.#isInputClosed = true;
    void this.#endInput();
  }

  pause(): Promise<void> {
    return this.#signal("pause-program");
  }

  resume(): Promise<void> {
    return this.#signal("resume-program");
  }

  askToEnd(): void {
    this.#owner.send("ask-program-to-end");
  }

  kill(): void {
    this.#owner.send("kill-program");
  }

  measure(): Promise<ProgramUsage | null> {
    if (this.#state === "gone") return Promise.resolve(null);
    if (this.#measuring === undefined) {
      this.#measuring = deferred();
      this.#owner.send("measure-program");
    }
    return this.#measuring.promise;
  }

  get isAttached(): boolean {
    return this.#input !== undefined;
  }

  /** Opens our ends of the pipes that the fork server made. Throws when they cannot be opened. */
  attach(server: ForkServer, sandbox: number, fds: readonly number[]): void {
    try {
      const opened = server.pipes.open(fds.map((fd, index) => [fd, index === 0 ? "write" : "read"]));
      const [input, stdout, stderr] = opened as [PipeEnd, PipeEnd, PipeEnd];
      this.#input = input.writer();
      this.#readers.push(this.#read("stdout", stdout), this.#read("stderr", stderr));
    } finally {
      server.send("taken", sandbox, { fds });
    }
    const { command, cwd, env, hasInput } = this.#spec;
    const spec = Buffer.from(JSON.stringify({ command, cwd, env, input: hasInput }));
    this.#input.write(spec.length.toString(16).padStart(LENGTH_DIGITS, "0"));
    this.#input.writeBytes(spec);
    this.#attached.resolve();
    if (this.#isInputClosed) void this.#endInput();
  }

  handle(event: Exclude<ProgramEvent, { event: "pipes" }>): void {
    switch (event.event) {
      case "program-exit":
        this.#exit(toExit(event), { cpuMs: Math.round((event.cpu ?? 0) * 1000), peakBytes: event.peak ?? 0 });
        break;
      case "program-gone":
        this.#end(toUsage(event));
        break;
      case "program-usage":
        this.#resolveMeasure(toUsage(event));
        break;
      case "program-signalled":
        this.#signals.shift()?.();
        break;
    }
  }

  /** The sandbox has ended. */
  lose(): void {
    this.#exit({ kind: "sandbox-gone", isLeft: false }, NO_USAGE);
    this.#end(NO_USAGE);
  }

  fail(why: string): void {
    this.#exit({ kind: "not-started", why, isLeft: false }, NO_USAGE);
  }

  #exit(exit: ProgramExit, usage: ProgramUsage): void {
    if (this.#state !== "running") return;
    for (const reader of this.#readers) reader.drain(DRAIN_LIMIT);
    this.#state = "exited";
    this.#input?.close();
    this.#attached.resolve();
    this.#listener.onExit(exit, usage);
    if (!exit.isLeft) this.#end(usage);
  }

  #end(usage: ProgramUsage): void {
    if (this.#state === "gone") return;
    for (const reader of this.#readers) reader.drain(DRAIN_LIMIT);
    this.#state = "gone";
    for (const reader of this.#readers) reader.close();
    for (const resolve of this.#signals.splice(0)) resolve();
    this.#resolveMeasure(null);
    this.#owner.onGone();
    this.#listener.onGone(usage);
  }

  #signal(op: string): Promise<void> {
    if (this.#state === "gone") return Promise.resolve();
    return new Promise((resolve) => {
      this.#signals.push(resolve);
      this.#owner.send(op);
    });
  }

  #resolveMeasure(usage: ProgramUsage | null): void {
    const measuring = this.#measuring;
    this.#measuring = undefined;
    measuring?.resolve(usage);
  }

  /** Waits for earlier writes. */
  async #endInput(): Promise<void> {
    await this.#attached.promise;
    await this.#input?.taken();
    this.#input?.close();
  }

  #read(stream: OutputStream, pipe: PipeEnd): PipeReader {
    return pipe.reader((buffer, length) => {
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
