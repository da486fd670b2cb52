// The receiving side of one WebSocket: how much is there of a message that is not whole yet.
//
// The library keeps the pieces and tells of whole messages alone, so what comes is counted before the library sees it. While a message is
// in pieces, everything is: a piece of one byte keeps all that came with it.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { PIECE_BYTES, type Share } from "./memory-budget.ts";

/** Of a ping or pong of a client: two bytes, and four for its mask. */
const CONTROL_HEAD_BYTES = 6;

export class Inbox {
  readonly #share: Share;
  /** Since the last whole message. */
  #bytes = 0;
  #pieces = 0;
  /** Of those, bytes that are part of no message. */
  #controlBytes = 0;

  constructor(webSocket: WebSocket, stream: Duplex, share: Share) {
    this.#share = share;
    stream.prependListener("data", (piece: Buffer) => {
      this.#bytes += piece.length;
      this.#pieces += 1;
      share.setIn(this.#bytes + this.#pieces * PIECE_BYTES);
    });
    webSocket.on("message", () => this.#reset());
    const onControl = (content: Buffer): void => {
      this.#controlBytes += CONTROL_HEAD_BYTES + content.length;
      if (this.#controlBytes >= this.#bytes) this.#reset();
    };
    webSocket.on("ping", onControl).on("pong", onControl);
  }

  #reset(): void {
    this.#bytes = 0;
    this.#pieces = 0;
    this.#controlBytes = 0;
    this.#share.setIn(0);
  }
}
