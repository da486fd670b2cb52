// Lines within a bound: whole ones pass, one that is too long is thrown away as it comes.

import { Transform, type TransformCallback } from "node:stream";

/** What is kept of a line that is too long, of either end, to find out which request it was. */
const KEPT_BYTES = 1024;
const NEWLINE = 0x0a;

const ID = String.raw`(?<id>"(?:[^"\\]|\\.){0,200}"|-?\d{1,15})`;
/** Only where a request has its id: as the first or last of its own fields, not somewhere inside. */
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${ID}\s*,`);
const ID_LAST = new RegExp(String.raw`[}\]"]\s*,\s*"id"\s*:\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

export class BoundedLines extends Transform {
  readonly #maxBytes: number;
  readonly #onTooLong: (id: string | number | undefined) => void;
  #pieces: Buffer[] = [];
  #length = 0;
  /** The beginning and the end of a line that is being thrown away. */
  #dropped: { readonly head: string; tail: Buffer } | undefined;

  /** `onTooLong` is told the id of the request that was thrown away, where it can be seen. */
  constructor(maxBytes: number, onTooLong: (id: string | number | undefined) => void) {
    super();
    this.#maxBytes = maxBytes;
    this.#onTooLong = onTooLong;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      this.#take(chunk.subarray(from, end + 1));
      this.#finish();
      from = end + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
    done();
  }

  #take(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#dropped !== undefined) {
      this.#dropped.tail = Buffer.concat([this.#dropped.tail, piece.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
    } else if (this.#length <= this.#maxBytes) {
      this.#pieces.push(piece);
    } else {
      const all = Buffer.concat([...this.#pieces, piece]);
      this.#dropped = {
        head: all.subarray(0, KEPT_BYTES).toString("utf8"),
        tail: Buffer.from(all.subarray(-KEPT_BYTES)),
      };
      this.#pieces = [];
    }
  }

  #finish(): void {
    if (this.#dropped === undefined) this.push(Buffer.concat(this.#pieces));
    else this.#onTooLong(findId(this.#dropped.head, this.#dropped.tail.toString("utf8")));
    this.#pieces = [];
    this.#length = 0;
    this.#dropped = undefined;
  }
}

function findId(head: string, tail: string): string | number | undefined {
  const found = ID_FIRST.exec(head)?.groups?.["id"] ?? ID_LAST.exec(tail)?.groups?.["id"];
  return found === undefined ? undefined : (JSON.parse(found) as string | number);
}
