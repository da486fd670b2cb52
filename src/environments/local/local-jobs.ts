// The jobs of one local sandbox, by number; each belongs to a session in it.

import { WorkerLostError } from "../../errors.ts";
import type { ForkServer } from "./fork-server.ts";
import { LocalJob } from "./local-job.ts";

interface Entry {
  readonly member: number;
  readonly resolve: (job: LocalJob) => void;
  readonly reject: (error: Error) => void;
  /** Absent until its pipes are there. */
  job?: LocalJob;
}

export class LocalJobs {
  readonly #server: ForkServer;
  readonly #sandbox: number;
  readonly #entries = new Map<number, Entry>();
  #made = 0;
  #over: string | undefined;

  constructor(server: ForkServer, sandbox: number) {
    this.#server = server;
    this.#sandbox = sandbox;
  }

  start(member: number): Promise<LocalJob> {
    return new Promise((resolve, reject) => {
      if (this.#over !== undefined) {
        reject(lost(this.#over));
        return;
      }
      this.#made += 1;
      this.#entries.set(this.#made, { member, resolve, reject });
      this.#server.order("job", this.#sandbox, { job: this.#made });
    });
  }

  /** The fork server made its pipes and sent the other ends on. */
  take(number: number, fds: readonly number[]): void {
    const entry = this.#entries.get(number);
    try {
      const job = new LocalJob(this.#server, this.#sandbox, fds, () => this.#kill(number));
      if (entry === undefined) {
        job.close(); // nobody waits for it any more
        return;
      }
      entry.job = job;
      entry.resolve(job);
    } catch (error) {
      entry?.reject(lost((error as Error).message));
    }
  }

  end(number: number, why: string | null): void {
    const entry = this.#entries.get(number);
    this.#entries.delete(number);
    entry?.reject(lost(why ?? "it ended at once")); // means nothing where it has been started
    entry?.job?.end();
  }

  /** A session is over, and its jobs with it. */
  killAll(member: number): void {
    for (const [number, entry] of this.#entries) if (entry.member === member) this.#kill(number);
  }

  /** The sandbox is gone. */
  endAll(why: string): void {
    this.#over = why;
    for (const number of this.#entries.keys()) this.end(number, why);
  }

  #kill(number: number): void {
    this.#server.order("end-job", this.#sandbox, { job: number });
  }
}

function lost(why: string): WorkerLostError {
  return new WorkerLostError(`Cannot start a process in the sandbox: ${why}`);
}
