// Cuts the bytes of a worker's event pipe into messages. Bounded in every direction: the sender is hostile.

import { MAX_DEPTH, MAX_LINE_BYTES, MAX_PARTS, parsePayloadLength } from "../protocol/worker-events.ts";
import { GrowingBuffer } from "../util/growing-buffer.ts";

const NEWLINE = 10;

export class FrameReader {
  readonly #onMessage: (message: unknown, bytes: number) => void;
  readonly #onViolation: (why: string) => void;
  #rest: Buffer = Buffer.alloc(0);
  #payload: Payload | undefined;
  #broken = false;

  /** `bytes` is how long the message was. */
  constructor(onMessage: (message: unknown, bytes: number) => void, onViolation: (why: string) => void) {
    this.#onMessage = onMessage;
    this.#onViolation = onViolation;
  }

  push(chunk: Buffer): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (data.length > 0 && !this.#broken) {
      const taken = this.#payload === undefined ? this.#takeLine(data) : this.#takePayload(data, this.#payload);
      if (taken === 0) break;
      data = data.subarray(taken);
    }
    this.#rest = data.length === 0 || this.#broken ? EMPTY : Buffer.from(data);
  }

  /** How many bytes were used: 0 when the line is not whole yet. */
  #takeLine(data: Buffer): number {
    const end = data.indexOf(NEWLINE);
    if (end === -1) {
      if (data.length > MAX_LINE_BYTES) this.#violate("a line is too long");
      return 0;
    }
    if (end > MAX_LINE_BYTES) return this.#violate("a line is too long");
    const line = data.subarray(0, end);
    if (isTooRich(line)) return this.#violate("a line holds too much");
    const message = parseJSON(line);
    const length = parsePayloadLength(message);
    if (length === undefined) return this.#violate("a line is not a message");
    if (length === 0) this.#onMessage(message, end);
    else this.#payload = { bytes: new GrowingBuffer(), missing: length };
    return end + 1;
  }

  #takePayload(data: Buffer, payload: Payload): number {
    const part = data.subarray(0, payload.missing);
    payload.bytes.append(part);
    payload.missing -= part.length;
    if (payload.missing === 0) {
      this.#payload = undefined;
      this.#endPayload(payload.bytes.view());
    }
    return part.length;
  }

  #endPayload(payload: Buffer): void {
    const message = isTooRich(payload) ? undefined : parseJSON(payload);
    if (message === undefined) this.#violate("a payload is not a message");
    else this.#onMessage(message, payload.length);
  }

  #violate(why: string): 0 {
    this.#broken = true;
    this.#onViolation(why);
    return 0;
  }
}

interface Payload {
  readonly bytes: GrowingBuffer;
  missing: number;
}

const EMPTY: Buffer = Buffer.alloc(0);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether parsing would cost far more memory than the text: small values in great number, or nested deeply. */
function isTooRich(json: Buffer): boolean {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at + 1);
        parts += 1;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        parts += 1;
        if (depth > MAX_DEPTH) return true;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
    }
  }
  return parts > MAX_PARTS;
}

/** Where the closing quote is; the end where there is none. */
function endOfString(json: Buffer, from: number): number {
  for (let at = json.indexOf(QUOTE, from); at !== -1; at = json.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (escapes > from && json[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
  }
  return json.length;
}

function parseJSON(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
