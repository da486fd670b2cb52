// The lines of a file that grows, each with its place. A line that has no end yet waits for it; one that is too long is passed over.

import type { FileHandle } from "node:fs/promises";

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface LogLine {
  /** Null: it was too long. */
  readonly text: string | null;
  readonly offset: number;
  readonly bytes: number;
}

export class LogLines {
  readonly #file: FileHandle;
  readonly #maxBytes: number;
  #at: number;
  /** Where the line begins of which some was read. */
  #start: number;
  /** What was read of it; undefined: it is too long. */
  #pieces: Buffer[] | undefined = [];

  constructor(file: FileHandle, maxBytes: number, offset = 0) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#at = offset;
    this.#start = offset;
  }

  /** Those that are whole by now. May be asked again when more has been written. */
  async *read(): AsyncGenerator<LogLine, void, void> {
    for (;;) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, this.#at);
      if (bytesRead === 0) return;
      const base = this.#at;
      this.#at += bytesRead;
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
