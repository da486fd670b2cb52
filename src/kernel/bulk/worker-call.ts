// A call as handlers inside the runtime get it: with its large values, which travel apart from its arguments.

import type { HostCall } from "../../api/local.ts";
import type { CallEvent } from "../../protocol/worker/worker-events.ts";
import { Semaphore } from "../../util/async/semaphore.ts";
import type { CallSources } from "./call-sources.ts";
import type { SpooledBytes } from "./spooled-bytes.ts";

export type WorkerCallHandler = (call: WorkerCall) => Promise<unknown>;

export class WorkerCall implements HostCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly executionId: string;
  readonly signal: AbortSignal;
  readonly #number: number;
  readonly #sources: CallSources;
  /** One at a time: the code that waits for the reply sends them, and one that waits its turn does not stall. */
  #turn: Semaphore | undefined;

  constructor({ id, call, name, args }: CallEvent, signal: AbortSignal, sources: CallSources) {
    this.name = name;
    this.args = args;
    this.executionId = id;
    this.signal = signal;
    this.#number = call;
    this.#sources = sources;
  }

  /** The bytes of a source that the code offers with this call, until it is answered. Dispose them. */
  async fetch(source: number, signal: AbortSignal): Promise<SpooledBytes> {
    const turn = (this.#turn ??= new Semaphore(1, Infinity));
    await turn.acquire(signal);
    try {
      return await this.#sources.fetch(this.#number, source, signal);
    } finally {
      turn.release();
    }
  }
}
