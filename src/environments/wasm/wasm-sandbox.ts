// The sandbox of a session in WebAssembly: that of another environment, without what such a session cannot do.

import type { Job, Sandbox, SandboxUsage, Worker } from "../environment.ts";

export class WasmSandbox implements Sandbox {
  readonly inspectsInWorker = true;
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

  restart(_from?: undefined, limitMs?: number): Promise<Worker> {
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
