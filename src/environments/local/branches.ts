// The branches of one sandbox: numbered processes that are workers or checkpoints.
//
// A branch is requested from the fork server, which answers with its pipes (a worker), with `cloned` (a checkpoint) or with
// a refusal. Code of the family can delay or stop a copy, so copies have a time limit.

import {
  type EnvironmentUnavailableError,
  ForkRefusedError,
  LimitExceededError,
  WorkerLostError,
} from "../../errors.ts";
import type { AskForFork, KillReason, WorkerExit } from "../environment.ts";
import type { BranchEvent } from "./fork-server-messages.ts";
import type { ForkServer } from "./fork-server.ts";
import { LocalWorker } from "./local-worker.ts";
import { explainFailure } from "./tier.ts";

/** From the request for a sandbox to the first message of its worker. Long, because many may be requested at once. */
const OPEN_LIMIT_MS = 60_000;
/** From the request for a worker or a copy to its first message. */
const START_LIMIT_MS = 5_000;
/** The same for a fork, which copies the working directory first. */
const FORK_LIMIT_MS = 15_000;

/** Sends the request for the branch of this number. */
type Request = (branch: number) => void;

/** What happens on the events of a branch. */
interface Branch {
  readonly onPipes?: (fds: readonly number[]) => void;
  readonly onCloned?: () => void;
  readonly onRefused: (why: string) => void;
  readonly onEnd: (exit: WorkerExit) => void;
}

export class Branches {
  readonly #server: ForkServer;
  readonly #sandbox: number;
  /** How many forks and checkpoints may exist at once. */
  readonly #maxCopies: number;
  readonly #branches = new Map<number, Branch>();
  readonly #workers = new Map<number, LocalWorker>();
  #lastNumber = 0;
  /** Forks and checkpoints that exist or are being made. */
  #copies = 0;
  #failure: EnvironmentUnavailableError | undefined;
  #isGone = false;

  constructor(server: ForkServer, sandbox: number, maxCopies: number) {
    this.#server = server;
    this.#sandbox = sandbox;
    this.#maxCopies = maxCopies;
  }

  /** Processes are marked with it, so that no other branch and no program of the sandbox has the same. */
  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  /** The worker that comes with the sandbox. */
  async startFirst(request: Request): Promise<LocalWorker> {
    const branch = this.nextNumber();
    const timer = setTimeout(() => {
      this.fail("start", `it was not ready after ${OPEN_LIMIT_MS / 1000} s`);
      this.#branches.get(branch)?.onEnd({ kind: "sandbox-gone" });
    }, OPEN_LIMIT_MS).unref();
    try {
      return await this.#startWorker(branch, request);
    } finally {
      clearTimeout(timer);
    }
  }

  startWorker(request: Request, limitMs: number): Promise<LocalWorker> {
    const branch = this.nextNumber();
    return this.#within(limitMs, branch, this.#startWorker(branch, request));
  }

  /** A copy of a worker, which `ask` makes fork. It counts until `freeCopy`. */
  async fork(request: Request, ask: AskForFork): Promise<LocalWorker> {
    const branch = this.nextNumber();
    const copying = this.#within(FORK_LIMIT_MS, branch, this.#startWorker(branch, request));
    return settleCopy(copying, ask(branch), (copy) => copy.kill("closed"));
  }

  /** A frozen copy of a worker: its number. `onEnd` is called when it ends by itself. */
  async freeze(request: Request, ask: AskForFork, onEnd: () => void): Promise<number> {
    const action = "make a checkpoint";
    if (this.#isGone) throw new WorkerLostError(`Cannot ${action}: the sandbox is gone`);
    this.claimCopy(action);
    const branch = this.nextNumber();
    const cloned = new Promise<void>((resolve, reject) => {
      this.#branches.set(branch, {
        onCloned: resolve,
        onRefused: (why) => {
          this.#forget(branch);
          reject(new ForkRefusedError({ action, why }));
        },
        onEnd: () => {
          this.#forget(branch);
          reject(new WorkerLostError(`Cannot ${action}: it ended at once`));
          onEnd();
        },
      });
    });
    request(branch);
    await settleCopy(this.#within(START_LIMIT_MS, branch, cloned), ask(branch), () => this.drop(branch));
    return branch;
  }

  /** Kills a checkpoint without calling its `onEnd`, and frees its slot at once. */
  drop(checkpoint: number): void {
    this.#send("kill", { branch: checkpoint, reason: "closed" });
    this.#forget(checkpoint);
  }

  /** Throws LimitExceededError. */
  claimCopy(what: string): void {
    const value = this.#maxCopies;
    if (this.#copies >= value) throw new LimitExceededError({ what, limit: "branches", value });
    this.#copies += 1;
  }

  freeCopy(): void {
    this.#copies -= 1;
  }

  handle(event: BranchEvent): void {
    const branch = this.#branches.get(event.branch);
    switch (event.event) {
      case "pipes":
        this.#attachPipes(event.branch, event.fds);
        break;
      case "signalled":
        this.#workers.get(event.branch)?.signalled();
        break;
      case "cloned":
        branch?.onCloned?.();
        break;
      case "no-clone":
        branch?.onRefused(event.message);
        break;
      case "exit":
        branch?.onEnd(toWorkerExit(event));
        break;
    }
  }

  /** Explains why the branches that wait will not start. */
  fail(stage: string, message: string): void {
    this.#failure = explainFailure(this.#server.tier, stage, message);
  }

  /** The sandbox has ended. */
  endAll(): void {
    this.#isGone = true;
    for (const branch of this.#branches.values()) branch.onEnd({ kind: "sandbox-gone" });
  }

  async #startWorker(branch: number, request: Request): Promise<LocalWorker> {
    if (this.#isGone) throw new WorkerLostError("Cannot start another worker: the sandbox is gone");
    let refusal: string | undefined;
    const worker = await new Promise<LocalWorker>((resolve, reject) => {
      this.#branches.set(branch, {
        onPipes: (fds) => {
          const opened = new LocalWorker(this.#server, this.#sandbox, branch, fds);
          this.#workers.set(branch, opened);
          resolve(opened);
        },
        onRefused: (why) => {
          refusal = why;
          this.#endWorker(branch, { kind: "sandbox-gone" });
          reject(new ForkRefusedError({ action: "copy the session", why }));
        },
        onEnd: (exit) => {
          const isStarted = this.#workers.has(branch); // nearly always true, and an unused error is expensive
          this.#endWorker(branch, exit);
          if (!isStarted) reject(this.#failure ?? cannotStart(this.#server.endReason));
        },
      });
      request(branch);
    });
    await worker.ready;
    if (!worker.ended) return worker;
    if (refusal !== undefined) throw new ForkRefusedError({ action: "copy the session", why: refusal });
    throw this.#failure ?? cannotStart("it ended at once");
  }

  async #within<T>(limitMs: number, branch: number, starting: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#send("kill", { branch, reason: "timeout" });
      this.#branches.get(branch)?.onRefused(`it did not stand within ${Math.ceil(limitMs / 100) / 10} s`);
    }, limitMs).unref();
    try {
      return await starting;
    } finally {
      clearTimeout(timer);
    }
  }

  #attachPipes(branch: number, fds: readonly number[]): void {
    const worker = this.#workers.get(branch);
    const onPipes = this.#branches.get(branch)?.onPipes;
    try {
      if (fds.length === 2 && worker !== undefined) worker.replaceOutput(fds);
      else if (fds.length > 2 && worker === undefined && onPipes !== undefined) onPipes(fds);
      else this.#send("taken", { fds }); // it has ended meanwhile, or has its pipes
    } catch (error) {
      // Nobody has the other ends any more: the branch has ended, which will be reported. The sandbox goes on.
      if ((error as NodeJS.ErrnoException).code === "ENXIO") return this.#send("taken", { fds });
      this.fail("open the pipes of a worker", (error as Error).message);
      this.#send("close"); // the branches that wait fail when the sandbox has ended
    }
  }

  #endWorker(branch: number, exit: WorkerExit): void {
    this.#branches.delete(branch);
    const worker = this.#workers.get(branch);
    this.#workers.delete(branch);
    worker?.end(exit);
  }

  #forget(checkpoint: number): void {
    if (this.#branches.delete(checkpoint)) this.freeCopy();
  }

  #send(op: string, details: object = {}): void {
    if (!this.#isGone) this.#server.send(op, this.#sandbox, details);
  }
}

function cannotStart(why: string): WorkerLostError {
  return new WorkerLostError(`Cannot start a worker: ${why}`);
}

function toWorkerExit(event: Extract<BranchEvent, { event: "exit" }>): WorkerExit {
  const reason = event.reason as KillReason | null;
  if (event.signal !== undefined) return { kind: "signal", signal: event.signal, reason };
  return { kind: "code", code: event.code ?? 0, reason };
}

/** Waits for both sides, so that no copy is left half made. If both failed, the reason of the worker is the better one. */
async function settleCopy<T>(copying: Promise<T>, forking: Promise<void>, undo: (copy: T) => void): Promise<T> {
  const [copy, fork] = await Promise.allSettled([copying, forking]);
  if (fork.status === "rejected") {
    if (copy.status === "fulfilled") undo(copy.value);
    throw fork.reason;
  }
  if (copy.status === "rejected") throw copy.reason;
  return copy.value;
}
