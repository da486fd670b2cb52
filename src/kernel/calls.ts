// Open calls from inside a session, limited in number and size.
//
// A call is open until the worker has read the reply, so that code that never reads cannot make the host buffer replies without end.

import type { HostCall } from "../api/local.ts";
import type { Worker } from "../environments/environment.ts";
import { toReplyMessage, type CallAnswer } from "../protocol/worker/host-messages.ts";
import type { CallEvent } from "../protocol/worker/worker-events.ts";
import { byteLength } from "../util/bytes/byte-length.ts";
import { CallSources } from "./bulk/call-sources.ts";
import { SpoolSpace } from "./bulk/spooled-bytes.ts";
import { WorkerCall, type WorkerCallHandler } from "./bulk/worker-call.ts";
import type { PendingRequests } from "./pending-requests.ts";

const MAX_OPEN = 1024;
/** Of the arguments of all open calls together, as received. */
const MAX_OPEN_BYTES = 64 * 1024 * 1024;
/** Of refusals that the worker has not read. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

export interface CallOptions {
  readonly onCall: WorkerCallHandler;
  /** Of large values that were fetched from the worker and are still held. */
  readonly maxSpooledBytes: number;
}

/** An event whose sender waits for the reply. */
type Waiting = Pick<CallEvent, "id" | "call">;

export class Calls {
  readonly #worker: Worker;
  readonly #handler: WorkerCallHandler;
  readonly #sources: CallSources;
  readonly #onViolation: (why: string) => void;
  #open = 0;
  #openBytes = 0;
  /** Acknowledgements that the worker has not read. */
  #unread = 0;

  constructor(
    worker: Worker,
    requests: PendingRequests,
    { onCall, maxSpooledBytes }: CallOptions,
    onViolation: (why: string) => void,
  ) {
    this.#worker = worker;
    this.#handler = onCall;
    this.#sources = new CallSources(worker, requests, new SpoolSpace(maxSpooledBytes));
    this.#onViolation = onViolation;
  }

  /** False: too many are open. The worker gets an error then. */
  admit({ id, call }: Waiting, bytes: number): boolean {
    if (!this.hasRoom(id, call, bytes)) return false;
    this.#open += 1;
    this.#openBytes += bytes;
    return true;
  }

  /** False: a call of this size would not be admitted. The worker gets an error then. */
  hasRoom(id: string, call: number, bytes: number): boolean {
    if (this.#open < MAX_OPEN && this.#openBytes + bytes <= MAX_OPEN_BYTES) return true;
    const error = { name: "TooManyCalls", value: `${this.#open} calls are waiting already` };
    if (this.#worker.asideBacklog > MAX_UNREAD_BYTES) this.#onViolation("it does not take the answers to its calls");
    else this.#reply(id, call, { error });
    return false;
  }

  /** Answers an event that is not a call but whose sender waits. */
  acknowledge(id: string, call: number): void {
    if (this.#unread >= MAX_OPEN) return this.#onViolation("it does not take the answers to its displays");
    this.#reply(id, call, { value: null });
    if (this.#worker.asideBacklog > 0) void this.#untilRead();
  }

  /** Answers such an event when the work is done. Until then it counts as an open call. */
  async acknowledgeAfter(event: Waiting, bytes: number, work: () => Promise<void>): Promise<void> {
    if (!this.admit(event, bytes)) return;
    await work();
    this.#reply(event.id, event.call, { value: null });
    await this.#release(bytes);
  }

  /** Only for admitted calls. Resolves, once the reply is sent, to whether the handler succeeded. */
  async answer(
    event: CallEvent,
    bytes: number,
    signal: AbortSignal,
    handler: WorkerCallHandler = this.#handler,
  ): Promise<boolean> {
    const { id, call } = event;
    try {
      this.#reply(id, call, { value: (await handler(new WorkerCall(event, signal, this.#sources))) ?? null });
      return true;
    } catch (error) {
      // The handler failed, or its result is not valid JSON.
      this.#reply(id, call, { error: toCallError(error) });
      return false;
    } finally {
      void this.#release(bytes);
    }
  }

  async #untilRead(): Promise<void> {
    this.#unread += 1;
    await this.#worker.asideTaken();
    this.#unread -= 1;
  }

  #reply(id: string, call: number, answer: CallAnswer): void {
    const { line, payload } = toReplyMessage(id, call, answer, byteLength);
    this.#worker.aside(line, payload);
  }

  async #release(bytes: number): Promise<void> {
    if (this.#worker.asideBacklog > 0) await this.#worker.asideTaken();
    this.#open -= 1;
    this.#openBytes -= bytes;
  }
}

interface InputListener {
  onInput(call: number, hostCall: HostCall): Promise<unknown>;
}

/** Code that outlives its execution has nobody to ask. */
export function toInputHandler(call: number, listener: InputListener | undefined): WorkerCallHandler {
  return async (hostCall) => {
    if (listener === undefined) throw new Error("the execution that could ask for input has ended");
    return listener.onInput(call, hostCall);
  };
}

function toCallError(error: unknown): { name: string; value: string } {
  if (error instanceof Error) return { name: error.name, value: error.message };
  return { name: "Error", value: String(error) };
}
