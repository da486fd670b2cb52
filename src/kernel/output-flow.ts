// Backpressure for what an execution prints: while its listener takes no more of a stream, the pipe of that stream is not read, so the
// code that prints waits.
//
// Code that is being stopped gets some more room. Without it the interrupt could not reach code that is blocked in printing, and the
// code could not flush what it has buffered.

import type { Worker } from "../environments/environment.ts";
import type { OutputStream } from "../protocol/execution.ts";

const STREAMS = ["stdout", "stderr"] as const;
/** Taken after an interrupt although the listener takes no more. */
const LAST_BYTES = 8 * 1024 * 1024;

export class OutputFlow {
  readonly #worker: Pick<Worker, "pauseOutput" | "resumeOutput">;
  readonly #held: Record<OutputStream, Promise<void> | undefined> = { stdout: undefined, stderr: undefined };
  #room = 0;

  constructor(worker: Pick<Worker, "pauseOutput" | "resumeOutput">) {
    this.#worker = worker;
  }

  get isHeld(): boolean {
    return this.#held.stdout !== undefined || this.#held.stderr !== undefined;
  }

  /** The listener has got these bytes, and takes no more of the stream before the promise settles. */
  hold(stream: OutputStream, bytes: number, until: Promise<void>): void {
    this.#room -= Math.min(this.#room, bytes);
    if (this.#room > 0 || this.#held[stream] !== undefined) return;
    this.#held[stream] = until;
    this.#worker.pauseOutput(stream);
    const release = (): void => {
      if (this.#held[stream] === until) this.#release(stream);
    };
    void until.then(release, release);
  }

  /** Resolves when no stream is held. */
  async untilFree(): Promise<void> {
    while (this.isHeld) await Promise.allSettled([this.#held.stdout, this.#held.stderr]);
  }

  /** The code is being stopped. */
  makeRoom(): void {
    this.#room = LAST_BYTES;
    this.#releaseAll();
  }

  /** The execution has ended. */
  end(): void {
    this.#room = 0;
    if (this.isHeld) this.#releaseAll();
  }

  #releaseAll(): void {
    for (const stream of STREAMS) if (this.#held[stream] !== undefined) this.#release(stream);
  }

  #release(stream: OutputStream): void {
    this.#held[stream] = undefined;
    this.#worker.resumeOutput(stream);
  }
}
