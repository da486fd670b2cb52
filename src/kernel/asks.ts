// Commands other than executions that wait for their status, by id.

import type { ChunkHeader, StatusEvent } from "../protocol/worker/worker-events.ts";
import type { BulkSource } from "./bulk.ts";

/** What may be said about a command that is not an execution. */
export interface AskOptions {
  /** Null: no limit. */
  readonly limitMs?: number | null;
  /** Takes bytes of the answer. */
  readonly sink?: ChunkSink | undefined;
  /** Bytes that follow the command. */
  readonly source?: BulkSource | undefined;
}

/** Takes raw bytes of an answer that is too large for a message. */
export interface ChunkSink {
  /** False: nobody wants these bytes, and the message counts as one that nobody asked for. */
  begin(header: ChunkHeader): boolean;
  /** A piece that is only valid during the call. */
  take(piece: Buffer): void;
}

interface Ask {
  readonly resolve: (status: StatusEvent | undefined) => void;
  readonly sink: ChunkSink | undefined;
}

/** Questions that were given up and may still be answered. Past this a worker that does not listen is asked no more. */
const MAX_LATE = 64;

export class Asks {
  readonly #waiting = new Map<string, Ask>();
  #made = 0;
  #late = 0;

  /** Sends one command under a new id. Resolves with its status; with undefined when the worker is lost first. */
  ask(send: (id: string) => void, sink?: ChunkSink): Promise<StatusEvent | undefined> {
    const id = this.#createId();
    return new Promise((resolve) => {
      this.#waiting.set(id, { resolve, sink });
      send(id);
    });
  }

  /** The same, with "unheard" when the limit comes first; an answer that comes later is expected, and dropped. */
  askWithin(limitMs: number, send: (id: string) => void): Promise<StatusEvent | "unheard" | undefined> {
    if (this.#late >= MAX_LATE) return Promise.resolve("unheard");
    const id = this.#createId();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#late += 1;
        this.#waiting.set(id, { resolve: () => (this.#late -= 1), sink: undefined });
        resolve("unheard");
      }, limitMs);
      const hear = (status: StatusEvent | undefined): void => {
        clearTimeout(timer);
        resolve(status);
      };
      this.#waiting.set(id, { resolve: hear, sink: undefined });
      send(id);
    });
  }

  /** Whether somebody waited for it. */
  hear(status: StatusEvent): boolean {
    const asked = this.#waiting.get(status.id);
    if (asked === undefined) return false;
    this.#waiting.delete(status.id);
    asked.resolve(status);
    return true;
  }

  /** Who takes the bytes behind this header; undefined when nobody asked for them. */
  sinkOf(header: ChunkHeader): ((piece: Buffer) => void) | undefined {
    const sink = this.#waiting.get(header.id)?.sink;
    return sink?.begin(header) === true ? (piece) => sink.take(piece) : undefined;
  }

  /** The worker is gone: nobody will be answered. */
  end(): void {
    for (const { resolve } of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }

  #createId(): string {
    this.#made += 1;
    return `ask/${this.#made}`;
  }
}
