// Requests to a worker, other than executions, that wait for their status; by id.

import type { ChunkHeader, StatusEvent } from "../protocol/worker/worker-events.ts";
import type { BulkSource } from "./bulk/send-bulk.ts";

export interface RequestOptions {
  /** Null: no limit. */
  readonly limitMs?: number | null;
  /** Takes the raw bytes of the reply. */
  readonly sink?: ChunkSink | undefined;
  /** Bytes that follow the request. */
  readonly source?: BulkSource | undefined;
}

/** Takes raw bytes of a reply that is too large for a message. */
export interface ChunkSink {
  /** False: these bytes are not expected, and the message counts as unsolicited. */
  begin(header: ChunkHeader): boolean;
  /** The piece is only valid during the call. */
  take(piece: Buffer): void;
}

interface PendingRequest {
  readonly resolve: (status: StatusEvent | undefined) => void;
  readonly sink: ChunkSink | undefined;
}

/** Requests that timed out and may still be answered. Past this limit a worker that does not answer gets no more. */
const MAX_LATE = 64;

export class PendingRequests {
  readonly #pending = new Map<string, PendingRequest>();
  #made = 0;
  #late = 0;

  /** Sends a request under a new id. Resolves to its status, or to undefined when the worker is lost first. */
  add(send: (id: string) => void, sink?: ChunkSink): Promise<StatusEvent | undefined> {
    const id = this.#createId();
    return new Promise((resolve) => {
      this.#pending.set(id, { resolve, sink });
      send(id);
    });
  }

  /** The same with a time limit. A late reply is expected, and dropped. */
  addWithin(limitMs: number, send: (id: string) => void): Promise<StatusEvent | "timeout" | undefined> {
    if (this.#late >= MAX_LATE) return Promise.resolve("timeout");
    const id = this.#createId();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#late += 1;
        this.#pending.set(id, { resolve: () => (this.#late -= 1), sink: undefined });
        resolve("timeout");
      }, limitMs);
      const onStatus = (status: StatusEvent | undefined): void => {
        clearTimeout(timer);
        resolve(status);
      };
      this.#pending.set(id, { resolve: onStatus, sink: undefined });
      send(id);
    });
  }

  /** Whether a request waits for a status with this id. */
  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /** False: no request waits for this status. */
  resolve(status: StatusEvent): boolean {
    const request = this.#pending.get(status.id);
    if (request === undefined) return false;
    this.#pending.delete(status.id);
    request.resolve(status);
    return true;
  }

  /** What takes the bytes behind this header. Undefined: no request expects them. */
  sinkOf(header: ChunkHeader): ((piece: Buffer) => void) | undefined {
    const sink = this.#pending.get(header.id)?.sink;
    return sink?.begin(header) === true ? (piece) => sink.take(piece) : undefined;
  }

  /** The worker is lost: no reply will come. */
  close(): void {
    for (const { resolve } of this.#pending.values()) resolve(undefined);
    this.#pending.clear();
  }

  #createId(): string {
    this.#made += 1;
    return `ask/${this.#made}`;
  }
}
