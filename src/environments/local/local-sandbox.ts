// The sandbox of one session: its membership in a family, and its current worker.

import { WorkerLostError } from "../../errors.ts";
import type {
  AskForFork,
  Job,
  Program,
  ProgramListener,
  ProgramSpec,
  Sandbox,
  SandboxCheckpoint,
  SandboxOptions,
  SandboxUsage,
} from "../environment.ts";
import { waitFor } from "../../util/async/wait-for.ts";
import type { PreparedMount } from "../mounts.ts";
import { Family, type Member } from "./family.ts";
import type { ForkServer } from "./fork-server.ts";
import type { LocalWorker } from "./local-worker.ts";

/** For the processes of the old worker to end, and for a new one to be ready. */
const RESTART_LIMIT_MS = 5_000;

export class LocalSandbox implements Sandbox {
  readonly #family: Family;
  readonly #member: Member;
  readonly #isFork: boolean;
  readonly #whenGone: () => Promise<void>;
  readonly #checkpoints = new Set<LocalCheckpoint>();
  #worker: LocalWorker;
  #closing: Promise<void> | undefined;

  private constructor(
    family: Family,
    { member, worker }: { member: Member; worker: LocalWorker },
    { isFork, whenGone }: { readonly isFork: boolean; readonly whenGone: () => Promise<void> },
  ) {
    this.#family = family;
    this.#whenGone = whenGone;
    this.#member = member;
    this.#worker = worker;
    this.#isFork = isFork;
  }

  /** Resolves when the sandbox is built and its worker is ready. `whenGone` is awaited when its last session is closed. */
  static async open(
    server: ForkServer,
    { mounts, limits }: Pick<SandboxOptions, "limits"> & { readonly mounts: readonly PreparedMount[] },
    whenGone: () => Promise<void> = () => Promise.resolve(),
  ): Promise<LocalSandbox> {
    const family = new Family(server, limits);
    return new LocalSandbox(family, await family.open(mounts), { isFork: false, whenGone });
  }

  get worker(): LocalWorker {
    return this.#worker;
  }

  get folder(): string {
    return this.#member.folder;
  }

  async restart(from?: SandboxCheckpoint, limitMs = RESTART_LIMIT_MS): Promise<LocalWorker> {
    this.#checkOpen();
    const old = this.#worker;
    const checkpoint = from === undefined ? undefined : this.#toOwn(from);
    const deadline = performance.now() + limitMs;
    if (old.ended) await gone(old, limitMs);
    const leftMs = Math.max(1, deadline - performance.now());
    const worker = await (checkpoint === undefined
      ? this.#family.restart(this.#member, leftMs)
      : this.#family.wake(this.#member, checkpoint.branch, leftMs));
    old.kill("closed");
    if (this.#closing !== undefined) worker.kill("closed");
    this.#worker = worker;
    return worker;
  }

  async fork(ask: AskForFork): Promise<LocalSandbox> {
    this.#checkOpen();
    const forked = await this.#family.fork(this.#member, this.#worker.branch, ask);
    return new LocalSandbox(this.#family, forked, { isFork: true, whenGone: this.#whenGone });
  }

  async checkpoint(ask: AskForFork, onEnd: () => void): Promise<SandboxCheckpoint> {
    this.#checkOpen();
    const checkpoint = new LocalCheckpoint(this.#family, () => {
      this.#checkpoints.delete(checkpoint);
      onEnd();
    });
    this.#checkpoints.add(checkpoint);
    try {
      await checkpoint.make(this.#member, this.#worker.branch, ask);
      return checkpoint;
    } catch (error) {
      this.#checkpoints.delete(checkpoint);
      throw error;
    }
  }

  async startJob(): Promise<Job> {
    this.#checkOpen();
    return this.#family.jobs.start(this.#member.number);
  }

  startProgram(spec: ProgramSpec, listener: ProgramListener): Program {
    this.#checkOpen();
    return this.#family.startProgram(this.#member, spec, listener);
  }

  usage(): Promise<SandboxUsage | null> {
    return this.#family.usage(this.#member);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const checkpoint of this.#checkpoints) checkpoint.release();
    this.#family.jobs.killAll(this.#member.number);
    if (this.#family.size > 1) {
      // The last member's programs and worker end with the sandbox. The worker is killed last: its exit is reported
      // when nothing else of the session is alive.
      this.#family.programs.killAll(this.#member.number);
      this.#worker.kill("closed");
    }
    await this.#family.leave(this.#member, { isFork: this.#isFork });
    await (this.#family.isGone ? this.#whenGone() : this.#worker.whenGone);
  }

  #toOwn(checkpoint: SandboxCheckpoint): LocalCheckpoint {
    for (const own of this.#checkpoints) if (own === checkpoint) return own;
    throw new WorkerLostError("Cannot go back to the checkpoint: it is no more");
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new WorkerLostError("Cannot use the sandbox: it is gone");
  }
}

class LocalCheckpoint implements SandboxCheckpoint {
  readonly #family: Family;
  readonly #onEnd: () => void;
  branch = 0;
  #ended = false;

  constructor(family: Family, onEnd: () => void) {
    this.#family = family;
    this.#onEnd = onEnd;
  }

  async make(member: Member, of: number, ask: AskForFork): Promise<void> {
    this.branch = await this.#family.checkpoint(member, of, ask, () => this.#end());
  }

  get ended(): boolean {
    return this.#ended;
  }

  release(): void {
    if (this.#ended) return;
    this.#family.dropCheckpoint(this.branch);
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }
}

async function gone(worker: LocalWorker, limitMs: number): Promise<void> {
  if (!(await waitFor(worker.whenGone, limitMs))) {
    throw new WorkerLostError("Cannot start another worker: the processes of the last one do not end");
  }
}
