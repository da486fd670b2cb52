// The jobs of one local sandbox, by number. Each belongs to a session in it.

import type { Readable, Writable } from "node:stream";
import { WorkerLostError } from "../../errors.ts";
import { deferred, type Deferred } from "../../util/async/deferred.ts";
import type { Job } from "../environment.ts";
import type { JobEvent } from "./fork-server-messages.ts";
import type { ForkServer } from "./fork-server.ts";
import type { PipeEnd } from "./pipes.ts";

/** A closed job sees the end of its input and cleans up. After this long it is killed. */
const CLOSE_GRACE_MS = 1000;

interface Entry {
  readonly member: number;
  readonly started: Deferred<Job>;
  /** Absent until its pipes exist. */
  job?: LocalJob;
}

export class LocalJobs {
  readonly #server: ForkServer;
  readonly #sandbox: number;
  readonly #entries = new Map<number, Entry>();
  #lastNumber = 0;
  #endReason: string | undefined;

  constructor(server: ForkServer, sandbox: number) {
    this.#server = server;
    this.#sandbox = sandbox;
  }

  async start(member: number): Promise<Job> {
    if (this.#endReason !== undefined) throw cannotStart(this.#endReason);
    const started = deferred<Job>();
    this.#lastNumber += 1;
    this.#entries.set(this.#lastNumber, { member, started });
    this.#server.send("job", this.#sandbox, { job: this.#lastNumber });
    return started.promise;
  }

  handle(event: JobEvent): void {
    if (event.event === "pipes") this.#attach(event.job, event.fds);
    else this.#end(event.job, event.why);
  }

  killAll(member: number): void {
    for (const [number, entry] of this.#entries) if (entry.member === member) this.#kill(number);
  }

  /** The sandbox has ended. */
  endAll(why: string): void {
    this.#endReason = why;
    for (const number of this.#entries.keys()) this.#end(number, why);
  }

  #attach(number: number, fds: readonly number[]): void {
    const entry = this.#entries.get(number);
    if (entry === undefined || entry.job !== undefined) {
      this.#server.send("taken", this.#sandbox, { fds }); // it has ended meanwhile, or has its pipes
      return;
    }
    try {
      entry.job = new LocalJob(this.#server, this.#sandbox, fds, () => this.#kill(number));
      entry.started.resolve(entry.job);
    } catch (error) {
      entry.started.reject(cannotStart((error as Error).message));
    }
  }

  #end(number: number, why: string | null): void {
    const entry = this.#entries.get(number);
    this.#entries.delete(number);
    entry?.started.reject(cannotStart(why ?? "it ended at once")); // has no effect if it was started
    entry?.job?.end();
  }

  #kill(number: number): void {
    this.#server.send("end-job", this.#sandbox, { job: number });
  }
}

class LocalJob implements Job {
  readonly #ended = deferred();
  readonly ended = this.#ended.promise;
  readonly #input: Writable;
  readonly #output: Readable;
  readonly #kill: () => void;
  #hasEnded = false;
  #killer: NodeJS.Timeout | undefined;

  /** Throws when its pipes cannot be opened. The fork server closes its ends then, which ends the job. */
  constructor(server: ForkServer, sandbox: number, fds: readonly number[], kill: () => void) {
    const [input, output] = fds as [number, number];
    this.#kill = kill;
    try {
      const opened = server.pipes.open([
        [input, "write"],
        [output, "read"],
      ]);
      const [inputEnd, outputEnd] = opened as [PipeEnd, PipeEnd];
      this.#input = inputEnd.input();
      this.#output = outputEnd.output();
    } finally {
      server.send("taken", sandbox, { fds });
    }
    this.#input.on("error", () => {}); // it has ended: its output ends too
    this.#output.on("error", () => {});
  }

  write(data: string | Uint8Array): Promise<boolean> {
    const input = this.#input;
    if (!input.writable) return Promise.resolve(false);
    return new Promise((resolve) => void input.write(data, (error) => resolve(!error)));
  }

  async *output(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of this.#output) yield chunk as Buffer;
    } catch {
      // Closed by us or broken: either way there is no more output.
    }
  }

  close(): void {
    this.#input.destroy();
    this.#output.destroy();
    if (!this.#hasEnded) this.#killer ??= setTimeout(this.#kill, CLOSE_GRACE_MS).unref();
  }

  /** Its process has ended. Output that it wrote before can still be read. */
  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#killer);
    this.#input.destroy();
    this.#ended.resolve();
  }
}

function cannotStart(why: string): WorkerLostError {
  return new WorkerLostError(`Cannot start a process in the sandbox: ${why}`);
}
