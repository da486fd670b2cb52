// Splits the bytes of a worker's event pipe into messages. Everything is limited, because the sender is not trusted.

import { MAX_LINE_BYTES } from "../protocol/worker/limits.ts";
import { parseChunkHeader, parsePayloadLength } from "../protocol/worker/parse-worker-event.ts";
import type { ChunkHeader } from "../protocol/worker/worker-events.ts";
import { parseJSON } from "../util/parse-json.ts";
import { exceedsJsonLimits } from "./json-limits.ts";

const NEWLINE = 10;
const EMPTY: Buffer = Buffer.alloc(0);

/** Allocated at its full size: pages that are not written yet cost nothing. */
interface Payload {
  readonly bytes: Buffer;
  filled: number;
}

/** Raw bytes that are passed on as they arrive. */
interface Passing {
  readonly take: (piece: Buffer) => void;
  left: number;
}

export class FrameReader {
  readonly #onMessage: (message: unknown, bytes: number) => void;
  readonly #onViolation: (why: string) => void;
  readonly #onChunk: (header: ChunkHeader) => (piece: Buffer) => void;
  #rest = EMPTY;
  #passing: Passing | undefined;
  #payload: Payload | undefined;
  #broken = false;

  /**
   * `bytes` is the length of the message. `onChunk` returns what takes the raw bytes behind a `chunk`, in pieces that are only valid during
   * the call.
   */
  constructor(
    onMessage: (message: unknown, bytes: number) => void,
    onViolation: (why: string) => void,
    onChunk: (header: ChunkHeader) => (piece: Buffer) => void = () => () => {},
  ) {
    this.#onMessage = onMessage;
    this.#onViolation = onViolation;
    this.#onChunk = onChunk;
  }

  /** Reads the first `length` bytes. The buffer is only used during the call. */
  push(buffer: Buffer, length: number): void {
    const chunk = buffer.subarray(0, length);
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (data.length > 0 && !this.#broken) {
      const taken = this.#take(data);
      if (taken === data.length) {
        this.#rest = EMPTY;
        return;
      }
      if (taken === 0) break;
      data = data.subarray(taken);
    }
    this.#rest = this.#broken ? EMPTY : Buffer.from(data);
  }

  #take(data: Buffer): number {
    if (this.#payload !== undefined) return this.#takePayload(data, this.#payload);
    return this.#passing === undefined ? this.#takeLine(data) : this.#pass(data, this.#passing);
  }

  /** How many bytes were used: 0 when the line is incomplete. */
  #takeLine(data: Buffer): number {
    const end = data.indexOf(NEWLINE);
    if (end === -1) {
      if (data.length > MAX_LINE_BYTES) this.#violate("a line is too long");
      return 0;
    }
    if (end > MAX_LINE_BYTES) return this.#violate("a line is too long");
    const message = parse(data, end);
    const header = parseChunkHeader(message);
    if (header === undefined) return this.#violate("a chunk is not one");
    if (header !== null) {
      this.#passing = { take: this.#onChunk(header), left: header.bytes };
      return end + 1;
    }
    const length = parsePayloadLength(message);
    if (length === undefined) return this.#violate("a line is not a message");
    if (length === 0) this.#onMessage(message, end);
    else this.#payload = { bytes: Buffer.allocUnsafeSlow(length), filled: 0 };
    return end + 1;
  }

  #takePayload(data: Buffer, payload: Payload): number {
    const { bytes } = payload;
    const taken = data.copy(bytes, payload.filled);
    payload.filled += taken;
    if (payload.filled === bytes.length) {
      this.#payload = undefined;
      const message = parse(bytes, bytes.length);
      if (parsePayloadLength(message) === undefined) this.#violate("a payload is not a message");
      else this.#onMessage(message, bytes.length);
    }
    return taken;
  }

  #pass(data: Buffer, passing: Passing): number {
    const piece = data.length > passing.left ? data.subarray(0, passing.left) : data;
    passing.left -= piece.length;
    if (passing.left === 0) this.#passing = undefined;
    passing.take(piece);
    return piece.length;
  }

  #violate(why: string): 0 {
    this.#broken = true;
    this.#onViolation(why);
    return 0;
  }
}

/** Undefined for invalid JSON, or JSON larger than any valid message. */
function parse(json: Buffer, length: number): unknown {
  return exceedsJsonLimits(json, length) ? undefined : parseJSON(json.toString("utf8", 0, length));
}
