// Large values of a call, which do not fit into its message: the host fetches them as bytes while the call is open.
//
// The code that makes a call offers sources by number, and sends what the host asks for. It may offer nothing, send nothing, or never end:
// what it sends has a limit, and a worker that sends nothing for a while has failed.

import { z } from "zod";
import type { Worker } from "../../environments/environment.ts";
import { toCommandMessage, type SourceMessage } from "../../protocol/worker/host-messages.ts";
import type { ChunkHeader, StatusEvent } from "../../protocol/worker/worker-events.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { formatSeconds } from "../../util/text/format.ts";
import type { ChunkSink, PendingRequests } from "../pending-requests.ts";
import type { SpoolSpace } from "./spooled-bytes.ts";
import { SpooledBytes } from "./spooled-bytes.ts";

/** Without a byte. A waiting call may hold up an event loop of the code for long. */
const STALL_MS = 300_000;
/** What a worker may still send after the host has stopped listening: it is in the pipe, or the worker was not told yet. */
const MAX_LATE_BYTES = 64 * 1024 * 1024;
/** Requests that the host has given up and that may still be answered. */
const MAX_ABANDONED = 64;

const answer = z.object({ size: z.int().min(0) });

export class CallSources {
  readonly #worker: Pick<Worker, "aside">;
  readonly #requests: PendingRequests;
  readonly #space: SpoolSpace;
  #abandoned = 0;

  constructor(worker: Pick<Worker, "aside">, requests: PendingRequests, space: SpoolSpace) {
    this.#worker = worker;
    this.#requests = requests;
    this.#space = space;
  }

  /** Rejects with the reason of the signal, and with an Error that says why there is no such value. Dispose what it resolves to. */
  async fetch(call: number, source: number, signal: AbortSignal): Promise<SpooledBytes> {
    signal.throwIfAborted();
    if (this.#abandoned >= MAX_ABANDONED) throw new Error("the session does not send what its calls offer");
    const bytes = SpooledBytes.open(this.#space);
    let stop: (error: Error) => void = () => {};
    const stopped = new Promise<never>((_, reject) => {
      stop = reject;
    });
    stopped.catch(() => {});
    const unlisten = onAbort(signal, () => stop(signal.reason as Error));
    const sink = new SpoolSink(bytes, stop);
    let id = "";
    const status = this.#requests.add((given) => {
      id = given;
      this.#aside({ cmd: "fetch", call, source }, id);
    }, sink);
    try {
      checkAnswer(await Promise.race([status, stopped]), bytes);
      return bytes;
    } catch (error) {
      bytes[Symbol.dispose]();
      if (this.#requests.has(id)) this.#abandon(id, call, status);
      throw error;
    } finally {
      sink.close();
      unlisten();
    }
  }

  #abandon(id: string, call: number, status: Promise<unknown>): void {
    this.#aside({ cmd: "fetch-end", call }, id);
    this.#abandoned += 1;
    void status.then(() => (this.#abandoned -= 1));
  }

  #aside(message: SourceMessage, id: string): void {
    this.#worker.aside(toCommandMessage(id, message).line);
  }
}

function checkAnswer(status: StatusEvent | undefined, { sizeBytes }: SpooledBytes): void {
  if (status === undefined) throw new Error("the worker was lost");
  if (status.error !== undefined) throw new Error(status.error.value || status.error.name);
  if (answer.safeParse(status.data).data?.size !== sizeBytes)
    throw new Error("the session sent a different size than it announced");
}

/** Writes the bytes of one value, in order. After a failure, and after it is closed, what comes is dropped. */
class SpoolSink implements ChunkSink {
  readonly #bytes: SpooledBytes;
  readonly #fail: (error: Error) => void;
  #timer: NodeJS.Timeout;
  #announced = 0;
  #late = 0;
  #isOpen = true;

  constructor(bytes: SpooledBytes, fail: (error: Error) => void) {
    this.#bytes = bytes;
    this.#fail = fail;
    this.#timer = setTimeout(
      () => fail(new Error(`the session sent nothing for ${formatSeconds(STALL_MS)}`)),
      STALL_MS,
    );
  }

  begin({ at, bytes }: ChunkHeader): boolean {
    if (!this.#isOpen) {
      this.#late += bytes;
      return this.#late <= MAX_LATE_BYTES;
    }
    if (at !== this.#announced) this.#fail(new Error("the session sent it out of order"));
    this.#announced += bytes;
    this.#timer.refresh();
    return true;
  }

  take(piece: Buffer): void {
    if (!this.#isOpen) return;
    try {
      this.#bytes.append(piece);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }
}
