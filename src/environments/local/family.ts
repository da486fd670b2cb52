// A family: one sandbox of the fork server, shared by a session, its forks and their checkpoints.
//
// Each session is a member with a folder of its own. Events of the sandbox arrive here and are passed on to the branch, job
// or program they concern. When the last member has left, the sandbox is closed.

import { deferred } from "../../util/async/deferred.ts";
import type {
  AskForFork,
  Program,
  ProgramListener,
  ProgramSpec,
  SandboxOptions,
  SandboxUsage,
} from "../environment.ts";
import type { PreparedMount } from "../mounts.ts";
import { Branches } from "./branches.ts";
import type { ServerEvent, UsageEvent } from "./fork-server-messages.ts";
import type { ForkServer } from "./fork-server.ts";
import { LocalJobs } from "./local-jobs.ts";
import { LocalPrograms } from "./local-programs.ts";
import type { LocalWorker } from "./local-worker.ts";

const USAGE_LIMIT_MS = 5_000;

/** A session of the family. */
export interface Member {
  readonly number: number;
  /** Its working directory inside the sandbox. */
  readonly folder: string;
}

/** Known when the sandbox is opened. */
interface Folders {
  readonly work: string;
  readonly forks: string;
}

export class Family {
  readonly jobs: LocalJobs;
  readonly programs: LocalPrograms;
  readonly #server: ForkServer;
  readonly #sandbox: number;
  readonly #limits: SandboxOptions["limits"];
  readonly #branches: Branches;
  readonly #members = new Set<Member>();
  readonly #measurements = new Map<number, (event: UsageEvent | undefined) => void>();
  #folders: Folders = { work: "", forks: "" };
  #lastMeasurement = 0;
  #lastMember = 0;
  #isGone = false;
  readonly #gone = deferred();

  constructor(server: ForkServer, limits: SandboxOptions["limits"]) {
    this.#server = server;
    this.#limits = limits;
    this.#sandbox = server.register((event) => this.#handle(event));
    this.#branches = new Branches(server, this.#sandbox, limits.branches);
    this.jobs = new LocalJobs(server, this.#sandbox);
    this.programs = new LocalPrograms(server, this.#sandbox);
  }

  /** Builds the sandbox. Resolves when its first worker is ready. A sandbox without a worker is closed. */
  async open(mounts: readonly PreparedMount[]): Promise<{ member: Member; worker: LocalWorker }> {
    const limits = this.#limits;
    const profile = this.#server.profileFor(this.#sandbox, mounts);
    try {
      const worker = await this.#branches.startFirst(() =>
        this.#send("open", { mounts: mounts.map(toMessage), limits, profile }),
      );
      return { member: this.#join(this.#folders.work), worker };
    } catch (error) {
      void this.#close();
      throw error;
    }
  }

  /** A worker with an empty namespace. */
  restart({ number: member, folder }: Member, limitMs: number): Promise<LocalWorker> {
    return this.#branches.startWorker((branch) => this.#send("worker", { branch, member, folder }), limitMs);
  }

  /** A live copy of a checkpoint. */
  wake({ number: member, folder }: Member, checkpoint: number, limitMs: number): Promise<LocalWorker> {
    return this.#branches.startWorker(
      (branch) => this.#send("clone", { branch, of: checkpoint, member, folder, frozen: false }),
      limitMs,
    );
  }

  /** A live copy of a worker, in a copy of its folder. */
  async fork({ folder: from }: Member, of: number, ask: AskForFork): Promise<{ member: Member; worker: LocalWorker }> {
    this.#branches.claimCopy("fork the session");
    const member = this.#join();
    const { number, folder } = member;
    try {
      const worker = await this.#branches.fork(
        (branch) => this.#send("clone", { branch, of, member: number, frozen: false, from, folder }),
        ask,
      );
      return { member, worker };
    } catch (error) {
      void this.leave(member, { isFork: true });
      throw error;
    }
  }

  /** A frozen copy of a worker: its number. `onEnd` is called when it ends by itself. */
  checkpoint({ number: member }: Member, of: number, ask: AskForFork, onEnd: () => void): Promise<number> {
    return this.#branches.freeze((branch) => this.#send("clone", { branch, of, member, frozen: true }), ask, onEnd);
  }

  dropCheckpoint(checkpoint: number): void {
    this.#branches.drop(checkpoint);
  }

  startProgram(member: Member, spec: ProgramSpec, listener: ProgramListener): Program {
    return this.programs.start(this.#branches.nextNumber(), member, spec, listener);
  }

  /** What a member uses. Null if the sandbox does not answer. */
  usage(member: Member): Promise<SandboxUsage | null> {
    if (this.#isGone) return Promise.resolve(null);
    this.#lastMeasurement += 1;
    const id = this.#lastMeasurement;
    return new Promise((resolve) => {
      // Code in the sandbox can delay the measurement.
      const timer = setTimeout(() => this.#endMeasurement(id), USAGE_LIMIT_MS).unref();
      this.#measurements.set(id, (event) => {
        clearTimeout(timer);
        if (event === undefined) return resolve(null);
        const memoryBytes = event.memory[String(member.number)] ?? 0;
        resolve({ memoryBytes, diskBytes: Math.round(event.disk / Math.max(1, this.#members.size)) });
      });
      this.#send("measure", { id });
    });
  }

  /** Removes the member's files, and closes the sandbox after the last member. Its branches must have been killed. */
  async leave(member: Member, { isFork }: { readonly isFork: boolean }): Promise<void> {
    if (!this.#members.delete(member)) return;
    if (isFork) this.#branches.freeCopy();
    if (this.#members.size > 0) {
      this.#send("remove", { folder: member.folder });
      return;
    }
    await this.#close();
  }

  #close(): Promise<void> {
    this.#send("close");
    return this.#gone.promise;
  }

  /** How many sessions it has. */
  get size(): number {
    return this.#members.size;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  #join(folder?: string): Member {
    this.#lastMember += 1;
    const member = { number: this.#lastMember, folder: folder ?? `${this.#folders.forks}/${this.#lastMember}` };
    this.#members.add(member);
    return member;
  }

  #handle(event: ServerEvent): void {
    if ("branch" in event) return this.#branches.handle(event);
    if ("job" in event) return this.jobs.handle(event);
    if ("program" in event) return this.programs.handle(event);
    switch (event.event) {
      case "opened":
        this.#folders = event;
        return;
      case "usage":
        return this.#endMeasurement(event.id, event);
      case "failed":
        return this.#branches.fail(event.stage, event.message);
      case "closed":
        return this.#end();
      case "less":
        return; // about the machine, not about one sandbox
    }
  }

  #endMeasurement(id: number, event?: UsageEvent): void {
    const resolve = this.#measurements.get(id);
    this.#measurements.delete(id);
    resolve?.(event);
  }

  #end(): void {
    this.#isGone = true;
    this.jobs.endAll(this.#server.endReason);
    this.programs.loseAll();
    this.#branches.endAll();
    for (const id of this.#measurements.keys()) this.#endMeasurement(id);
    this.#gone.resolve();
  }

  #send(op: string, details: object = {}): void {
    if (!this.#isGone) this.#server.send(op, this.#sandbox, details);
  }
}

function toMessage({ path, mode, hidden = [], expected }: PreparedMount): object {
  return { path, write: mode === "rw", hidden, expected };
}
