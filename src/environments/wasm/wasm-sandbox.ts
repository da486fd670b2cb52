// The sandbox of a session in WebAssembly: that of another environment, without what such a session cannot do.

import type { Job, Sandbox, SandboxUsage, Worker } from "../environment.ts";

/** A worker is a new process, which takes long to start on a busy machine. Without it the files of the session are lost. */
const RESTART_LIMIT_MS = 60_000;

export class WasmSandbox implements Sandbox {
  readonly #inner: Sandbox;

  constructor(inner: Sandbox) {
    this.#inner = inner;
  }

  get worker(): Worker {
    return this.#inner.worker;
  }

  get folder(): string {
    return this.#inner.folder;
  }

  restart(_from?: undefined, limitMs = RESTART_LIMIT_MS): Promise<Worker> {
    return this.#inner.restart(undefined, limitMs);
  }

  startJob(): Promise<Job> {
    return this.#inner.startJob();
  }

  usage(): Promise<SandboxUsage | null> {
    return this.#inner.usage();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
