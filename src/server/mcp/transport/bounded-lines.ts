// Splits a stream into lines of limited length. A longer line is discarded as it arrives.

/** Kept of each end of a discarded line, to find the id of its request. */
const KEPT_BYTES = 1024;
const NEWLINE = 0x0a;
/** Of a message; the same on every transport, so that a call fits all of them or none. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const ID = String.raw`(?<id>"(?:[^"\\]|\\.){0,200}"|-?\d{1,15})`;
/** Matches the id only as the first or last field of the request itself, not of a nested object. */
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${ID}\s*,`);
const ID_LAST = new RegExp(String.raw`[}\]"]\s*,\s*"id"\s*:\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

export class BoundedLines {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (id: string | number | undefined) => void;
  #pieces: Buffer[] = [];
  #length = 0;
  /** The beginning and the end of a line that is being discarded. */
  #dropped: { readonly head: string; tail: Buffer } | undefined;

  /** `onLine` gets lines without their newline; `onTooLong` the id of the discarded request, if it was found. */
  constructor(maxBytes: number, onLine: (line: string) => void, onTooLong: (id: string | number | undefined) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      this.#take(chunk.subarray(from, end));
      this.#finish();
      from = end + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
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
    const [pieces, dropped] = [this.#pieces, this.#dropped];
    this.#pieces = [];
    this.#length = 0;
    this.#dropped = undefined;
    if (dropped !== undefined) this.#onTooLong(findId(dropped.head, dropped.tail.toString("utf8")));
    else this.#onLine(toText(pieces));
  }
}

function toText(pieces: readonly Buffer[]): string {
  const [first] = pieces;
  return (first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)).toString("utf8");
}

function findId(head: string, tail: string): string | number | undefined {
  const found = ID_FIRST.exec(head)?.groups?.["id"] ?? ID_LAST.exec(tail)?.groups?.["id"];
  return found === undefined ? undefined : (JSON.parse(found) as string | number);
}
