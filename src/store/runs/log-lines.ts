// The lines of a growing file, each with its span. An incomplete last line is kept until its end arrives.

import type { FileHandle } from "node:fs/promises";
import { isTooDeep } from "../../util/bytes/json-depth.ts";
import { MAX_DEPTH } from "./run-log-format.ts";

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface LogLine {
  /** Null: it is too long to be read, or too deep to be parsed. */
  readonly text: string | null;
  readonly offset: number;
  readonly bytes: number;
}

interface LogLinesOptions {
  /** Where a line begins. Default: 0. */
  readonly offset?: number;
  /** Nothing is read from there on. Default: the end of the file. */
  readonly end?: number;
  /** Read at once. Default: 64 KiB. */
  readonly pieceBytes?: number;
}

export class LogLines {
  readonly #file: FileHandle;
  readonly #maxBytes: number;
  readonly #pieceBytes: number;
  readonly #end: number;
  #offset: number;
  /** The offset of the current line. */
  #start: number;
  /** What was read of the current line; undefined: it is too long. */
  #pieces: Buffer[] | undefined = [];

  constructor(
    file: FileHandle,
    maxBytes: number,
    { offset = 0, end = Infinity, pieceBytes = PIECE_BYTES }: LogLinesOptions = {},
  ) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#pieceBytes = pieceBytes;
    this.#end = end;
    this.#offset = offset;
    this.#start = offset;
  }

  /** Yields the complete lines. Call again when the file has grown. */
  async *read(): AsyncGenerator<LogLine, void, void> {
    for (;;) {
      const length = Math.min(this.#pieceBytes, this.#end - this.#offset);
      if (length <= 0) return;
      const piece = Buffer.allocUnsafe(length);
      const { bytesRead } = await this.#file.read(piece, 0, length, this.#offset);
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
      const line = { text: this.#text(), offset: this.#start, bytes: base + end + 1 - this.#start };
      from = end + 1;
      this.#start = base + from;
      this.#pieces = [];
      yield line;
    }
    if (from < piece.length) this.#take(piece.subarray(from), base + piece.length);
  }

  /** Of the line whose last piece was taken. */
  #text(): string | null {
    if (this.#pieces === undefined) return null;
    const data = Buffer.concat(this.#pieces);
    return isTooDeep(data, MAX_DEPTH) ? null : data.toString("utf8");
  }

  #take(piece: Buffer, end: number): void {
    if (end - this.#start > this.#maxBytes) this.#pieces = undefined;
    else this.#pieces?.push(piece);
  }
}
