// The lines of a growing file, each with its span. An incomplete last line is kept until its end arrives.

import type { FileHandle } from "node:fs/promises";

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface LogLine {
  /** Null: it is too long to be read. */
  readonly text: string | null;
  readonly offset: number;
  readonly bytes: number;
}

export class LogLines {
  readonly #file: FileHandle;
  readonly #maxBytes: number;
  #offset: number;
  /** The offset of the current line. */
  #start: number;
  /** What was read of the current line; undefined: it is too long. */
  #pieces: Buffer[] | undefined = [];

  constructor(file: FileHandle, maxBytes: number, offset = 0) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#offset = offset;
    this.#start = offset;
  }

  /** Yields the complete lines. Call again when the file has grown. */
  async *read(): AsyncGenerator<LogLine, void, void> {
    for (;;) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, this.#offset);
      if (bytesRead === 0) return;
      const base = this.#offset;
      this.#offset += bytesRead;
      yield* this.#split(piece.subarray(0, bytesRead), base);
    }
  }

  *#split(piece: Buffer, base: number): Generator<LogLine, void, void> {
    let from = 0;
    for (;;) {
      const end = piece.indexOf(NEWLINE, from);
      if (end === -1) break;
      this.#take(piece.subarray(from, end), base + end);
      const text = this.#pieces === undefined ? null : Buffer.concat(this.#pieces).toString("utf8");
      const line = { text, offset: this.#start, bytes: base + end + 1 - this.#start };
      from = end + 1;
      this.#start = base + from;
      this.#pieces = [];
      yield line;
    }
    if (from < piece.length) this.#take(piece.subarray(from), base + piece.length);
  }

  #take(piece: Buffer, end: number): void {
    if (end - this.#start > this.#maxBytes) this.#pieces = undefined;
    else this.#pieces?.push(piece);
  }
}
