// The walls around one session, as the host sees them: a number at the fork server, and the worker that lives there now.

import { type EnvironmentUnavailableError, WorkerLostError } from "../../errors.ts";
import type { KillReason, Sandbox, SandboxOptions, WorkerExit } from "../environment.ts";
import type { ForkServer, ServerEvent } from "./fork-server.ts";
import { LocalWorker } from "./local-worker.ts";
import { explainFailure } from "./tier.ts";

export class LocalSandbox implements Sandbox {
  readonly #server: ForkServer;
  readonly #number: number;
  #worker: LocalWorker | undefined;
  #opening: { readonly resolve: (worker: LocalWorker) => void; readonly reject: (error: Error) => void } | undefined;
  #failure: EnvironmentUnavailableError | undefined;
  #closed = false;
  readonly #gone: Promise<void>;
  #onGone: () => void = () => {};

  private constructor(server: ForkServer) {
    this.#server = server;
    this.#gone = new Promise((resolve) => {
      this.#onGone = resolve;
    });
    this.#number = server.register((event) => this.#hear(event));
  }

  /** Resolves when the walls stand and the worker has spoken. */
  static async open(server: ForkServer, { mounts, limits }: SandboxOptions): Promise<LocalSandbox> {
    const sandbox = new LocalSandbox(server);
    const worker = sandbox.#awaitWorker();
    server.order("open", sandbox.#number, {
      mounts: mounts.map(({ path, mode }) => ({ path, write: mode === "rw" })),
      limits,
    });
    await (
      await worker
    ).ready;
    if (sandbox.worker.ended) throw sandbox.#failure ?? new WorkerLostError("Cannot start a worker: it ended at once");
    return sandbox;
  }

  get worker(): LocalWorker {
    if (this.#worker === undefined) throw new WorkerLostError("Cannot use the sandbox: it has no worker");
    return this.#worker;
  }

  async restart(): Promise<LocalWorker> {
    if (this.#closed) throw new WorkerLostError("Cannot start another worker: the sandbox is gone");
    const opening = this.#awaitWorker();
    this.#server.order("worker", this.#number);
    const worker = await opening;
    await worker.ready;
    if (worker.ended) throw new WorkerLostError("Cannot start another worker: it ended at once");
    return worker;
  }

  async close(): Promise<void> {
    if (!this.#closed) this.#server.order("close", this.#number);
    await this.#gone;
  }

  #awaitWorker(): Promise<LocalWorker> {
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject };
    });
  }

  #hear(event: ServerEvent): void {
    switch (event.event) {
      case "pipes":
        this.#takePipes(event.fds);
        break;
      case "signalled":
        this.#worker?.signalled();
        break;
      case "failed":
        this.#failure = explainFailure(event.stage, event.message);
        this.#opening?.reject(this.#failure);
        break;
      case "exit":
        this.#worker?.end(toWorkerExit(event));
        break;
      case "closed":
        this.#end();
        break;
    }
  }

  #takePipes(fds: readonly number[]): void {
    try {
      if (fds.length === 2) this.#worker?.takeOutput(fds);
      else this.#takeWorker(new LocalWorker(this.#server, this.#number, fds));
    } catch (error) {
      this.#failure = explainFailure("open the pipes of a worker", (error as Error).message);
      this.#server.order("close", this.#number); // whoever waits is told when it has ended
    }
  }

  #takeWorker(worker: LocalWorker): void {
    this.#worker = worker;
    this.#opening?.resolve(worker);
    this.#opening = undefined;
  }

  #end(): void {
    this.#closed = true;
    this.#worker?.end({ kind: "sandbox-gone" });
    this.#opening?.reject(this.#failure ?? new WorkerLostError(`Cannot start a worker: ${this.#server.lastWords}`));
    this.#onGone();
  }
}

function toWorkerExit(event: Extract<ServerEvent, { event: "exit" }>): WorkerExit {
  const reason = event.reason as KillReason | null;
  if (event.signal !== undefined) return { kind: "signal", signal: event.signal, reason };
  return { kind: "code", code: event.code ?? 0, reason };
}
