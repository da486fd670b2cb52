// Splits the bytes of a worker's event pipe into messages. Everything is limited, because the sender is not trusted.

import { MAX_DEPTH, MAX_IGNORED, MAX_IGNORED_BYTES, MAX_LINE_BYTES } from "../protocol/worker/limits.ts";
import { parseChunkHeader, parseHeader, parsePayloadLength } from "../protocol/worker/parse-worker-event.ts";
import type { ChunkHeader, PayloadHeader } from "../protocol/worker/worker-events.ts";
import { parseJSON } from "../util/parse-json.ts";
import { isTooDeep } from "../util/bytes/json-depth.ts";
import { PayloadReader } from "./payload-reader.ts";

const NEWLINE = 10;
const EMPTY: Buffer = Buffer.alloc(0);

/** Raw bytes that are passed on as they arrive. */
interface Passing {
  readonly take: (piece: Buffer) => void;
  left: number;
}

export interface FrameListener {
  /** `bytes` is the length of the message. */
  onMessage(message: unknown, bytes: number): void;
  onViolation(why: string): void;
  /** Whether to parse the payload behind this header. Otherwise its bytes are skipped. */
  isWanted(header: PayloadHeader | undefined, bytes: number): boolean;
  /** Returns what takes the raw bytes behind a `chunk`, in pieces that are only valid during the call. Undefined: it is ignored. */
  onChunk(header: ChunkHeader): ((piece: Buffer) => void) | undefined;
}

export class FrameReader {
  readonly #listener: FrameListener;
  #rest = EMPTY;
  #passing: Passing | undefined;
  #payload: PayloadReader | undefined;
  #broken = false;
  #ignored = 0;
  #ignoredBytes = 0;

  constructor(listener: FrameListener) {
    this.#listener = listener;
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

  /** A message that nobody asked for. Too many are a violation. */
  ignore(bytes: number): void {
    this.#ignored += 1;
    this.#ignoredBytes += bytes;
    const isTooMuch = this.#ignored > MAX_IGNORED || this.#ignoredBytes > MAX_IGNORED_BYTES;
    if (isTooMuch) this.#listener.onViolation("too many messages that nobody asked for");
  }

  forgetIgnored(): void {
    this.#ignored = this.#ignoredBytes = 0;
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
      const take = this.#listener.onChunk(header);
      if (take === undefined) this.ignore(header.bytes);
      this.#passing = { take: take ?? (() => {}), left: header.bytes };
      return end + 1;
    }
    const length = parsePayloadLength(message);
    if (length === undefined) return this.#violate("a line is not a message");
    if (length === 0) this.#listener.onMessage(message, end);
    else this.#beginPayload(parseHeader(message), length);
    return end + 1;
  }

  #beginPayload(header: PayloadHeader | undefined, length: number): void {
    const isWanted = this.#listener.isWanted(header, length);
    if (isWanted && header !== undefined) this.#payload = new PayloadReader(header, length);
    else this.#passing = { take: () => {}, left: length };
  }

  #takePayload(data: Buffer, payload: PayloadReader): number {
    const taken = payload.push(data);
    if (payload.isBroken) return this.#violate("a payload is not a message");
    if (!payload.isComplete) return taken;
    this.#payload = undefined;
    const message = payload.message();
    if (message === undefined) return this.#violate("a payload is not the message of its header");
    this.#listener.onMessage(message, payload.length);
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
    this.#listener.onViolation(why);
    return 0;
  }
}

/** Undefined for invalid JSON, or JSON that is nested more deeply than any valid message. */
function parse(json: Buffer, length: number): unknown {
  return isTooDeep(json, MAX_DEPTH, length) ? undefined : parseJSON(json.toString("utf8", 0, length));
}
