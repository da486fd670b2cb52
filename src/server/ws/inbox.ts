// Counts the bytes that one WebSocket has received of an incomplete message.
//
// The library buffers fragments and reports complete messages only, so chunks are counted before the library sees them. Until a message is
// complete everything is counted: a fragment of one byte keeps the whole chunk that it came in.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { BUFFER_OVERHEAD_BYTES, type Reservation } from "../net/memory-budget.ts";

/** Of a client's ping or pong: two bytes, and four for its mask. */
const CONTROL_HEADER_BYTES = 6;

export class Inbox {
  readonly #memory: Reservation;
  /** Since the last complete message. */
  #bytes = 0;
  #chunks = 0;
  /** Bytes of these that belong to no message. */
  #controlBytes = 0;

  constructor(webSocket: WebSocket, stream: Duplex, memory: Reservation) {
    this.#memory = memory;
    stream.prependListener("data", (chunk: Buffer) => {
      this.#bytes += chunk.length;
      this.#chunks += 1;
      memory.resize(this.#bytes + this.#chunks * BUFFER_OVERHEAD_BYTES);
    });
    webSocket.on("message", () => this.#reset());
    const onControl = (content: Buffer): void => {
      this.#controlBytes += CONTROL_HEADER_BYTES + content.length;
      if (this.#controlBytes >= this.#bytes) this.#reset();
    };
    webSocket.on("ping", onControl).on("pong", onControl);
  }

  #reset(): void {
    this.#bytes = 0;
    this.#chunks = 0;
    this.#controlBytes = 0;
    this.#memory.resize(0);
  }
}
