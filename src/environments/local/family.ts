// One sandbox at the fork server, as the host sees it: a session, its forks and their checkpoints live in it together.
//
// Each worker and each checkpoint is a branch with a number. Events of the fork server come in here and go to the branch
// they are about. When the last session has left, the sandbox is closed; when it ends by itself, everything in it has.

import {
  type EnvironmentUnavailableError,
  ForkRefusedError,
  LimitExceededError,
  WorkerLostError,
} from "../../errors.ts";
import type {
  AskForFork,
  KillReason,
  Program,
  ProgramListener,
  ProgramSpec,
  SandboxOptions,
  SandboxUsage,
  WorkerExit,
} from "../environment.ts";
import type { ForkServer, ServerEvent } from "./fork-server.ts";
import { LocalJobs } from "./local-jobs.ts";
import { LocalPrograms } from "./local-programs.ts";
import { LocalWorker } from "./local-worker.ts";
import { explainFailure } from "./tier.ts";

/** Between the request for a worker or a copy and its first word. */
const START_LIMIT_MS = 5_000;
/** The same for a fork, which copies the working directory first. */
const FORK_LIMIT_MS = 15_000;

/** For all of a family's memory to be counted. */
const USAGE_LIMIT_MS = 5_000;

type UsageEvent = Extract<ServerEvent, { event: "usage" }>;

/** A session's place in the family. */
export interface Member {
  readonly number: number;
  /** Where its files are, inside. */
  readonly folder: string;
}

/** Who is told how a branch does before and after it lives. */
interface Branch {
  readonly onPipes?: (fds: readonly number[]) => void;
  readonly onStanding?: () => void;
  readonly onRefused?: (why: string) => void;
  /** It has ended, whatever became of it before. */
  readonly onEnd: (exit: WorkerExit) => void;
}

export class Family {
  readonly jobs: LocalJobs;
  readonly programs: LocalPrograms;
  readonly #server: ForkServer;
  readonly #number: number;
  readonly #limits: SandboxOptions["limits"];
  readonly #branches = new Map<number, Branch>();
  readonly #workers = new Map<number, LocalWorker>();
  readonly #members = new Set<Member>();
  readonly #measures = new Map<number, (event: UsageEvent | undefined) => void>();
  #lastMeasure = 0;
  #lastBranch = 0;
  #lastMember = 0;
  /** Forks and checkpoints that live or are being made. */
  #branched = 0;
  #failure: EnvironmentUnavailableError | undefined;
  #isGone = false;
  readonly #gone: Promise<void>;
  #onGone: () => void = () => {};

  constructor(server: ForkServer, limits: SandboxOptions["limits"]) {
    this.#server = server;
    this.#limits = limits;
    this.#gone = new Promise((resolve) => {
      this.#onGone = resolve;
    });
    this.#number = server.register((event) => this.#hear(event));
    this.jobs = new LocalJobs(server, this.#number);
    this.programs = new LocalPrograms(server, this.#number);
  }

  /** The sandbox itself and its first worker; resolves when the walls stand and the worker has spoken. */
  async open(mounts: SandboxOptions["mounts"]): Promise<{ member: Member; worker: LocalWorker }> {
    const member = this.#join("/work");
    const limits = this.#limits;
    const worker = await this.#startWorker(() =>
      this.#order("open", { mounts: mounts.map(({ path, mode }) => ({ path, write: mode === "rw" })), limits }),
    );
    return { member, worker };
  }

  /** A worker with an empty namespace. */
  restart({ number: member, folder }: Member): Promise<LocalWorker> {
    return this.#inTime(this.#startWorker((branch) => this.#order("worker", { branch, member, folder })));
  }

  /** A live copy of a checkpoint. */
  wake({ number: member, folder }: Member, checkpoint: number): Promise<LocalWorker> {
    return this.#inTime(
      this.#startWorker((branch) => this.#order("clone", { branch, of: checkpoint, member, folder, frozen: false })),
    );
  }

  /** A live copy of a worker, in a copy of its folder. `ask` makes the worker look at its door. */
  async fork(from: Member, of: number, ask: AskForFork): Promise<{ member: Member; worker: LocalWorker }> {
    this.#claimBranch("fork the session");
    const member = this.#join();
    try {
      const copying = this.#startWorker((branch) =>
        this.#order("clone", {
          branch,
          of,
          member: member.number,
          frozen: false,
          from: from.folder,
          folder: member.folder,
        }),
      );
      const worker = await copyOf(this.#inTime(copying, FORK_LIMIT_MS), ask(this.#lastBranch), (copy) =>
        copy.kill("closed"),
      );
      return { member, worker };
    } catch (error) {
      this.#branched -= 1;
      void this.leave(member);
      throw error;
    }
  }

  /** A frozen copy of a worker. `onEnd` is called when it is no more. Resolves with its number. */
  async checkpoint(member: Member, of: number, ask: AskForFork, onEnd: () => void): Promise<number> {
    if (this.#isGone) throw new WorkerLostError("Cannot make a checkpoint: the sandbox is gone");
    this.#claimBranch("make a checkpoint");
    const branch = this.#nextBranch();
    const free = (): void => {
      if (this.#branches.delete(branch)) this.#branched -= 1;
    };
    const standing = new Promise<void>((resolve, reject) => {
      this.#branches.set(branch, {
        onStanding: resolve,
        onRefused: (why) => {
          free();
          reject(new ForkRefusedError({ action: "make a checkpoint", why }));
        },
        onEnd: () => {
          free();
          reject(new WorkerLostError("Cannot make a checkpoint: it ended at once"));
          onEnd();
        },
      });
    });
    this.#order("clone", { branch, of, member: member.number, frozen: true });
    await copyOf(this.#inTime(standing), ask(branch), () => this.drop(branch));
    return branch;
  }

  /** Ends a checkpoint; nobody is told, and its place is free at once. */
  drop(checkpoint: number): void {
    this.#order("kill", { branch: checkpoint, reason: "closed" });
    if (this.#branches.delete(checkpoint)) this.#branched -= 1;
  }

  /** Its number is taken from those of the branches: both are marks. */
  startProgram(member: Member, spec: ProgramSpec, listener: ProgramListener): Program {
    return this.programs.start(this.#nextBranch(), member, spec, listener);
  }

  /** What a member takes; null when nobody answers. */
  usage(member: Member): Promise<SandboxUsage | null> {
    if (this.#isGone) return Promise.resolve(null);
    this.#lastMeasure += 1;
    const id = this.#lastMeasure;
    return new Promise((resolve) => {
      // Code of the session can hold up whoever counts.
      const timer = setTimeout(() => this.#hearUsage(id), USAGE_LIMIT_MS);
      this.#measures.set(id, (event) => {
        clearTimeout(timer);
        if (event === undefined) return resolve(null);
        const memoryBytes = event.memory[String(member.number)] ?? 0;
        resolve({ memoryBytes, diskBytes: Math.round(event.disk / Math.max(1, this.#members.size)) });
      });
      this.#order("measure", { id });
    });
  }

  /** The member's files are gone, and with the last member the sandbox. Its branches must have been killed. */
  async leave(member: Member, { isBranch = false } = {}): Promise<void> {
    if (!this.#members.delete(member)) return;
    if (isBranch) this.#branched -= 1;
    if (this.#members.size > 0) {
      this.#order("remove", { folder: member.folder });
      return;
    }
    this.#order("close");
    await this.#gone;
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
    const member = { number: this.#lastMember, folder: folder ?? `/forks/${this.#lastMember}` };
    this.#members.add(member);
    return member;
  }

  async #startWorker(order: (branch: number) => void): Promise<LocalWorker> {
    if (this.#isGone) throw new WorkerLostError("Cannot start another worker: the sandbox is gone");
    const branch = this.#nextBranch();
    let refusal: string | undefined;
    const worker = await new Promise<LocalWorker>((resolve, reject) => {
      this.#branches.set(branch, {
        onPipes: (fds) => {
          const opened = new LocalWorker(this.#server, this.#number, branch, fds);
          this.#workers.set(branch, opened);
          resolve(opened);
        },
        onRefused: (why) => {
          refusal = why;
          this.#endWorker(branch, { kind: "sandbox-gone" });
          reject(new ForkRefusedError({ action: "copy the session", why }));
        },
        onEnd: (exit) => {
          const isStarted = this.#workers.has(branch); // nearly always: an error that nobody gets is not worth its stack
          this.#endWorker(branch, exit);
          if (!isStarted)
            reject(this.#failure ?? new WorkerLostError(`Cannot start a worker: ${this.#server.lastWords}`));
        },
      });
      order(branch);
    });
    await worker.ready;
    if (!worker.ended) return worker;
    if (refusal !== undefined) throw new ForkRefusedError({ action: "copy the session", why: refusal });
    throw this.#failure ?? new WorkerLostError("Cannot start a worker: it ended at once");
  }

  /** For the branch that was just asked for. Code of its family may run before it stands, or stop it, and never end. */
  async #inTime<T>(copying: Promise<T>, limitMs = START_LIMIT_MS): Promise<T> {
    const branch = this.#lastBranch;
    const timer = setTimeout(() => {
      this.#order("kill", { branch, reason: "timeout" });
      this.#branches.get(branch)?.onRefused?.(`it did not stand within ${limitMs / 1000} s`);
    }, limitMs);
    try {
      return await copying;
    } finally {
      clearTimeout(timer);
    }
  }

  #endWorker(branch: number, exit: WorkerExit): void {
    this.#branches.delete(branch);
    const worker = this.#workers.get(branch);
    this.#workers.delete(branch);
    worker?.end(exit);
  }

  #hear(event: ServerEvent): void {
    switch (event.event) {
      case "pipes":
        if ("job" in event) this.jobs.take(event.job, event.fds);
        else if ("program" in event) this.programs.take(event.program, event.fds);
        else this.#takePipes(event.branch, event.fds);
        break;
      case "job-end":
        this.jobs.end(event.job, event.why);
        break;
      case "program-exit":
      case "program-gone":
      case "program-usage":
      case "program-signalled":
        this.programs.hear(event);
        break;
      case "signalled":
        this.#workers.get(event.branch)?.signalled();
        break;
      case "cloned":
        this.#branches.get(event.branch)?.onStanding?.();
        break;
      case "no-clone":
        this.#branches.get(event.branch)?.onRefused?.(event.message);
        break;
      case "exit":
        this.#branches.get(event.branch)?.onEnd(toWorkerExit(event));
        break;
      case "usage":
        this.#hearUsage(event.id, event);
        break;
      case "less":
        break; // of the machine, not of one sandbox
      case "failed":
        this.#failure = explainFailure(event.stage, event.message);
        break;
      case "closed":
        this.#end();
        break;
    }
  }

  #hearUsage(id: number, event?: UsageEvent): void {
    const measured = this.#measures.get(id);
    this.#measures.delete(id);
    measured?.(event);
  }

  #takePipes(branch: number, fds: readonly number[]): void {
    const worker = this.#workers.get(branch);
    const onPipes = this.#branches.get(branch)?.onPipes;
    try {
      if (fds.length === 2 && worker !== undefined) worker.takeOutput(fds);
      else if (fds.length > 2 && onPipes !== undefined) onPipes(fds);
      else this.#order("taken", { fds }); // it has ended meanwhile
    } catch (error) {
      this.#failure = explainFailure("open the pipes of a worker", (error as Error).message);
      this.#order("close"); // whoever waits is told when it has ended
    }
  }

  #end(): void {
    this.#isGone = true;
    this.jobs.endAll(this.#server.lastWords);
    this.programs.loseAll();
    for (const branch of this.#branches.values()) branch.onEnd({ kind: "sandbox-gone" });
    for (const id of this.#measures.keys()) this.#hearUsage(id);
    this.#onGone();
  }

  #claimBranch(what: string): void {
    const { branches } = this.#limits;
    if (this.#branched >= branches) throw new LimitExceededError({ what, limit: "branches", value: branches });
    this.#branched += 1;
  }

  #nextBranch(): number {
    this.#lastBranch += 1;
    return this.#lastBranch;
  }

  #order(op: string, details: object = {}): void {
    if (!this.#isGone) this.#server.order(op, this.#number, details);
  }
}

function toWorkerExit(event: Extract<ServerEvent, { event: "exit" }>): WorkerExit {
  const reason = event.reason as KillReason | null;
  if (event.signal !== undefined) return { kind: "signal", signal: event.signal, reason };
  return { kind: "code", code: event.code ?? 0, reason };
}

/** Waits for both, so that nothing is left half done. When both failed, the one who was asked knows best why. */
async function copyOf<T>(copying: Promise<T>, asking: Promise<void>, undo: (copy: T) => void): Promise<T> {
  const [copy, asked] = await Promise.allSettled([copying, asking]);
  if (asked.status === "rejected") {
    if (copy.status === "fulfilled") undo(copy.value);
    throw asked.reason;
  }
  if (copy.status === "rejected") throw copy.reason;
  return copy.value;
}
