// Parses JSON piece by piece, so that a large message never holds up the event loop for long. Limited in depth and number of values,
// because the sender is not trusted: what exceeds a limit is refused as soon as it does.

import { MAX_DEPTH, MAX_PARTS } from "../protocol/worker/limits.ts";
import { endOfString } from "../util/bytes/json-depth.ts";
import { parseJSON } from "../util/parse-json.ts";
import { trimBrokenEnd } from "../util/text/utf8.ts";

const [TAB, NEWLINE, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const [PLUS, NINE, CAPITAL_E, SMALL_A, SMALL_U, SMALL_Z] = [0x2b, 0x39, 0x45, 0x61, 0x75, 0x7a];
/** Of a number, true, false or null. */
const MAX_SCALAR_BYTES = 1024;
/** An incomplete escape, such as \u12, is shorter. */
const ESCAPE_BYTES = 6;
/** What a string cannot contain as it is. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /[\\\u0000-\u001F]/;
const EMPTY = Buffer.alloc(0);

/** What may come next. `first` is what may follow an opening bracket, which may also be closed at once. */
type Expected = "value" | "first-value" | "key" | "first-key" | "colon" | "comma" | "nothing";

type Container = unknown[] | Record<string, unknown>;

export class JsonStream {
  #expected: Expected = "value";
  readonly #open: Container[] = [];
  /** Of the objects that are open. */
  readonly #keys: string[] = [];
  #parts = 0;
  #value: unknown;
  /** The beginning of a string that is not complete yet. */
  #text: string | undefined;
  /** The beginning of a token, to be read with the next piece. */
  #rest = EMPTY;
  #isBroken = false;

  /** False: it is not JSON, or exceeds a limit. The piece is only used during the call. */
  push(piece: Buffer): boolean {
    const data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let at = 0;
    while (at < data.length && !this.#isBroken) {
      const next = this.#text === undefined ? this.#take(data, at) : this.#takeText(data, at);
      if (next === at) break;
      at = next;
    }
    this.#rest = this.#isBroken ? EMPTY : Buffer.from(data.subarray(at));
    return !this.#isBroken;
  }

  /** The value. Undefined: it is not complete, or not JSON. */
  end(): unknown {
    if (this.#rest.length > 0) this.push(Buffer.from([SPACE])); // ends a number at the top
    return this.#isBroken || this.#expected !== "nothing" ? undefined : this.#value;
  }

  /** Where to go on: at the same place if the token is not complete. */
  #take(data: Buffer, at: number): number {
    switch (data[at]) {
      case SPACE:
      case NEWLINE:
      case RETURN:
      case TAB:
        return at + 1;
      case QUOTE:
        if (!this.#mayBeValue() && !this.#mayBeKey()) return this.#fail(at);
        this.#text = "";
        return at + 1;
      case OPEN_BRACE:
        return this.#begin({}, "first-key", at);
      case OPEN_BRACKET:
        return this.#begin([], "first-value", at);
      case CLOSE_BRACE:
        return this.#close("first-key", at);
      case CLOSE_BRACKET:
        return this.#close("first-value", at);
      case COMMA:
        if (this.#expected !== "comma") return this.#fail(at);
        this.#expected = Array.isArray(this.#open.at(-1)) ? "value" : "key";
        return this.#count(at);
      case COLON:
        if (this.#expected !== "colon") return this.#fail(at);
        this.#expected = "value";
        return at + 1;
      case undefined:
      default:
        return this.#takeScalar(data, at);
    }
  }

  #takeScalar(data: Buffer, from: number): number {
    let at = from;
    while (at < data.length && isScalar(data[at] ?? 0)) at += 1;
    if (at === from || at - from > MAX_SCALAR_BYTES || !this.#mayBeValue()) return this.#fail(from);
    if (at === data.length) return from;
    const value = parseJSON(data.toString("latin1", from, at));
    if (value === undefined) return this.#fail(from);
    this.#add(value);
    return at;
  }

  /** Reads on in a string, to its end or to the end of the piece. */
  #takeText(data: Buffer, from: number): number {
    const end = endOfString(data, from, data.length);
    const isComplete = end < data.length;
    const at = isComplete ? end : wholeCharacters(data, from);
    const text = data.toString("utf8", from, at);
    const decoded = ESCAPED.test(text) ? parseJSON(`"${text}"`) : text;
    if (typeof decoded !== "string") return this.#fail(from);
    const whole = `${this.#text ?? ""}${decoded}`;
    this.#text = isComplete ? undefined : whole;
    if (!isComplete) return at;
    if (this.#mayBeKey()) {
      this.#keys.push(whole);
      this.#expected = "colon";
    } else this.#add(whole);
    return at + 1;
  }

  #begin(container: Container, expected: Expected, at: number): number {
    if (!this.#mayBeValue() || this.#open.length === MAX_DEPTH) return this.#fail(at);
    this.#open.push(container);
    this.#expected = expected;
    return this.#count(at);
  }

  #close(empty: Expected, at: number): number {
    const isArray = empty === "first-value";
    const isOpen = this.#open.length > 0 && Array.isArray(this.#open.at(-1)) === isArray;
    if (!isOpen || (this.#expected !== empty && this.#expected !== "comma")) return this.#fail(at);
    this.#add(this.#open.pop());
    return at + 1;
  }

  /** Adds a complete value to the container around it. */
  #add(value: unknown): void {
    const container = this.#open.at(-1);
    this.#expected = container === undefined ? "nothing" : "comma";
    if (container === undefined) this.#value = value;
    else if (Array.isArray(container)) container.push(value);
    else setField(container, this.#keys.pop() ?? "", value);
  }

  #count(at: number): number {
    this.#parts += 1;
    return this.#parts > MAX_PARTS ? this.#fail(at) : at + 1;
  }

  #mayBeValue(): boolean {
    return this.#expected === "value" || this.#expected === "first-value";
  }

  #mayBeKey(): boolean {
    return this.#expected === "key" || this.#expected === "first-key";
  }

  #fail(at: number): number {
    this.#isBroken = true;
    return at;
  }
}

/** A key may have the name of something that every object has. */
function setField(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Digits, letters, and the signs in numbers. */
function isScalar(byte: number): boolean {
  return (byte >= PLUS && byte <= NINE && byte !== COMMA) || byte === CAPITAL_E || (byte >= SMALL_A && byte <= SMALL_Z);
}

/** The end of the last complete character or escape. */
function wholeCharacters(data: Buffer, from: number): number {
  const last = data.lastIndexOf(BACKSLASH);
  let end = data.length;
  if (last >= from && end - last < ESCAPE_BYTES) {
    let first = last;
    while (first > from && data[first - 1] === BACKSLASH) first -= 1;
    const isEscape = (last - first) % 2 === 0; // otherwise it is itself escaped
    if (isEscape && (last + 1 === end || data[last + 1] === SMALL_U)) end = last;
  }
  return from + trimBrokenEnd(data.subarray(from, end)).length;
}
