// The one pipe from a worker without a fork server: events and both streams, in the order in which they were written.
//
// A frame is the number of its stream, its length as 4 bytes, and its bytes. Code of the session can write to the pipe as well, so wrong
// frames are expected: their bytes count as events, which the kernel parses as hostile.

import type { OutputStream } from "../../../protocol/execution.ts";

const HEAD = 5;
const MAX_FRAME = 64 * 1024 * 1024;

export interface FrameListener {
  onEvents(buffer: Buffer, length: number): void;
  onOutput(stream: OutputStream, chunk: Buffer): void;
}

export class FrameParser {
  readonly #listener: FrameListener;
  #head = Buffer.alloc(0);
  #stream = 0;
  #left = 0;

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  /** False: the bytes are no frames, and the worker must end. */
  push(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        const part = chunk.subarray(at, at + HEAD - this.#head.length);
        this.#head = Buffer.concat([this.#head, part]);
        at += part.length;
        if (this.#head.length < HEAD) return true;
        this.#stream = this.#head.readUInt8(0);
        this.#left = this.#head.readUInt32LE(1);
        this.#head = Buffer.alloc(0);
        if (this.#stream > 2 || this.#left > MAX_FRAME) return false;
        continue;
      }
      const part = chunk.subarray(at, at + this.#left);
      at += part.length;
      this.#left -= part.length;
      if (this.#stream === 0) this.#listener.onEvents(part, part.length);
      else this.#listener.onOutput(this.#stream === 1 ? "stdout" : "stderr", part);
    }
    return true;
  }
}
