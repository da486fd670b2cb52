// Reads the payload of one message, and parses it while it arrives.

import { parsePayloadLength } from "../protocol/worker/parse-worker-event.ts";
import type { PayloadHeader } from "../protocol/worker/worker-events.ts";
import { JsonStream } from "./json-stream.ts";

/** Less is not parsed by itself, so that bytes that come one by one do not become a string each. */
const BLOCK_BYTES = 64 * 1024;

export class PayloadReader {
  readonly length: number;
  readonly #header: PayloadHeader;
  readonly #json = new JsonStream();
  readonly #block: Buffer;
  #filled = 0;
  #left: number;
  #isBroken = false;

  constructor(header: PayloadHeader, length: number) {
    this.length = length;
    this.#header = header;
    this.#left = length;
    this.#block = Buffer.allocUnsafeSlow(Math.min(length, BLOCK_BYTES));
  }

  /** It is not JSON, or exceeds a limit. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  get isComplete(): boolean {
    return this.#left === 0;
  }

  /** Takes at most one block. Returns how many bytes it took. */
  push(data: Buffer): number {
    const taken = data.copy(this.#block, this.#filled, 0, Math.min(data.length, this.#left));
    this.#filled += taken;
    this.#left -= taken;
    if (this.#filled === this.#block.length || this.#left === 0) {
      this.#isBroken = !this.#json.push(this.#block.subarray(0, this.#filled));
      this.#filled = 0;
    }
    return taken;
  }

  /** Undefined: it is not a message, or not that of the header. */
  message(): unknown {
    const message = this.#json.end();
    if (parsePayloadLength(message) === undefined) return undefined;
    const { type, id, call } = message as Record<string, unknown>;
    const { type: wantedType, id: wantedId, call: wantedCall } = this.#header;
    return type === wantedType && id === wantedId && call === wantedCall ? message : undefined;
  }
}
