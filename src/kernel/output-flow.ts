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

export type FlowState = "open" | "held" | "both-held";

export class OutputFlow {
  readonly #worker: Pick<Worker, "pauseOutput" | "resumeOutput">;
  readonly #held: Record<OutputStream, Promise<void> | undefined> = { stdout: undefined, stderr: undefined };
  readonly #onRelease: () => void;
  #room = 0;

  /** `onRelease` is called when a stream is no longer held. */
  constructor(worker: Pick<Worker, "pauseOutput" | "resumeOutput">, onRelease: () => void) {
    this.#worker = worker;
    this.#onRelease = onRelease;
  }

  /** "held": the listener takes no more of the stream now. "both-held": of neither, because both go to one place. */
  stateOf(stream: OutputStream): FlowState {
    if (this.#held[stream] === undefined) return "open";
    return this.#held.stdout === this.#held.stderr ? "both-held" : "held";
  }

  get isHeld(): boolean {
    return this.#held.stdout !== undefined || this.#held.stderr !== undefined;
  }

  /** The listener has got these bytes, and takes no more of the stream, or of both, before the promise settles. */
  hold(stream: OutputStream | "both", bytes: number, until: Promise<void>): void {
    this.#room -= Math.min(this.#room, bytes);
    if (this.#room > 0) return;
    if (stream === "both") for (const each of STREAMS) this.#hold(each, until);
    else if (this.#held[stream] === undefined) this.#hold(stream, until);
    else return;
    const release = (): void => this.#release((each) => this.#held[each] === until);
    void until.then(release, release);
  }

  #hold(stream: OutputStream, until: Promise<void>): void {
    if (this.#held[stream] === undefined) this.#worker.pauseOutput(stream);
    this.#held[stream] = until;
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
    this.#release((stream) => this.#held[stream] !== undefined);
  }

  #release(isReleased: (stream: OutputStream) => boolean): void {
    const released = STREAMS.filter(isReleased);
    for (const stream of released) {
      this.#held[stream] = undefined;
      this.#worker.resumeOutput(stream);
    }
    if (released.length > 0) this.#onRelease();
  }
}
