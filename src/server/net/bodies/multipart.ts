// Parses `multipart/form-data` (RFC 7578, RFC 2046) as a stream: at most a chunk and a line of headers are in memory.
//
// Our own, because the parts must be pulled, one after the other, at the pace of the disk, and errors of the source must pass through
// unchanged. What is not exactly the format is refused.

import { ProblemError, type Problem } from "../problem.ts";
import { INCOMPLETE_BODY } from "./body.ts";

export interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  /** Must be read before the next part is requested. */
  readonly content: AsyncIterable<Uint8Array>;
}

const MAX_PARTS = 1_001;
const MAX_HEADER_BYTES = 8 * 1024;
/** Before the first boundary, and after the last. */
const MAX_AROUND_BYTES = 8 * 1024;
const BOUNDARY =
  /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"(?<quoted>[^"]{1,70})"|(?<plain>[^\s;"]{1,70}))\s*(?:;.*)?$/i;
const BREAK = Buffer.from("\r\n");
const END_OF_HEADERS = Buffer.from("\r\n\r\n");

export function isMultipart({ headers }: Request): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
}

/** Throws a ProblemError for what is malformed, incomplete or too much, and whatever the content throws. */
export async function* parseMultipart(
  content: AsyncIterable<Uint8Array>,
  type: string | null,
): AsyncGenerator<Part, void> {
  const { quoted, plain } = BOUNDARY.exec(type ?? "")?.groups ?? {};
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw invalid("it needs a boundary of 1 to 70 characters");
  const scanner = new Scanner(content, Buffer.from(`\r\n--${boundary}`, "latin1"));
  try {
    await drop(scanner.untilDelimiter());
    for (let count = 1; await scanner.hasPart(); count += 1) {
      if (count > MAX_PARTS) throw invalid(`it has more than ${MAX_PARTS - 1} parts`);
      const headers = parseHeaders(await scanner.headers());
      const body = scanner.untilDelimiter(Number.POSITIVE_INFINITY, BREAK.length);
      yield { ...headers, content: body };
      for await (const _ of body); // what was not read
    }
    await scanner.end();
  } finally {
    await scanner.close();
  }
}

/** Reads the source up to delimiters, which may be split over chunks. */
class Scanner {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** As if a line ended before the body: the first boundary is then like all others. */
  #pending: Buffer = BREAK;

  constructor(content: AsyncIterable<Uint8Array>, delimiter: Buffer) {
    this.#source = content[Symbol.asyncIterator]();
    this.#delimiter = delimiter;
  }

  /** The bytes before the next delimiter, which is consumed, without the first ones. A second iteration continues the first. */
  untilDelimiter(maxBytes = MAX_AROUND_BYTES, skippedBytes = 0): AsyncIterable<Uint8Array> {
    let total = 0;
    let skipped = 0;
    let isOver = false;
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      while (!isOver) {
        const at = this.#pending.indexOf(this.#delimiter);
        isOver = at !== -1;
        // The last bytes may be the beginning of a delimiter.
        const length = isOver ? at : Math.max(0, this.#pending.length - this.#delimiter.length + 1);
        const piece = this.#pending.subarray(0, length);
        this.#pending = this.#pending.subarray(isOver ? at + this.#delimiter.length : length);
        total += length;
        if (total > maxBytes) throw invalid("its first boundary is missing");
        const value = piece.subarray(skippedBytes - skipped);
        skipped += length - value.length;
        if (value.length > 0) return { done: false, value };
        if (!isOver) await this.#read();
      }
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** Behind a delimiter: whether a part follows, and not the end. */
  async hasPart(): Promise<boolean> {
    await this.#fill(2);
    if (this.#pending.subarray(0, 2).toString("latin1") !== "--") return true;
    this.#pending = this.#pending.subarray(2);
    return false;
  }

  async headers(): Promise<string> {
    let end = -1;
    for (;;) {
      end = this.#pending.indexOf(END_OF_HEADERS);
      if (end > MAX_HEADER_BYTES || (end === -1 && this.#pending.length > MAX_HEADER_BYTES)) {
        throw invalid("the headers of a part are too long");
      }
      if (end !== -1) break;
      await this.#read();
    }
    const bytes = this.#pending.subarray(0, end);
    // The last line break stays: it may belong to the delimiter behind an empty content.
    this.#pending = this.#pending.subarray(end + BREAK.length);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      throw invalid("the headers of a part are not UTF-8");
    }
  }

  /** Reads what is behind the last delimiter. */
  async end(): Promise<void> {
    let total = this.#pending.length;
    for (;;) {
      if (total > MAX_AROUND_BYTES) throw invalid("there is more behind its end");
      const { value, done } = await this.#source.next();
      if (done === true) return;
      total += value.length;
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #fill(bytes: number): Promise<void> {
    while (this.#pending.length < bytes) await this.#read();
  }

  async #read(): Promise<void> {
    const { value, done } = await this.#source.next();
    if (done === true) throw new ProblemError(INCOMPLETE_BODY);
    this.#pending = this.#pending.length === 0 ? Buffer.from(value) : Buffer.concat([this.#pending, value]);
  }
}

async function drop(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

const DISPOSITION = /^content-disposition:[ \t]*form-data[ \t]*(?<parameters>;.*)$/i;
const PARAMETER = /;[ \t]*(?<name>[\w!#$&+.^`|~*-]+)[ \t]*=[ \t]*(?:"(?<quoted>(?:[^"\\]|\\.)*)"|(?<plain>[^\s;"]*))/g;

function parseHeaders(text: string): Pick<Part, "name" | "fileName"> {
  const lines = text.split("\r\n");
  if ((lines.shift() ?? "").trim() !== "") throw invalid("there is something behind a boundary");
  const dispositions = lines.flatMap((line) => DISPOSITION.exec(line)?.groups?.["parameters"] ?? []);
  const [parameters] = dispositions;
  if (parameters === undefined || dispositions.length > 1)
    throw invalid("a part needs one Content-Disposition: form-data");
  const found = new Map<string, string>();
  for (const { groups = {} } of parameters.matchAll(PARAMETER)) {
    const name = (groups["name"] ?? "").toLowerCase();
    if (found.has(name)) throw invalid(`a part has two ${name.slice(0, 50)}`);
    found.set(name, unescape(groups["quoted"] ?? groups["plain"] ?? ""));
  }
  const name = found.get("name");
  if (name === undefined || name === "") throw invalid("a part has no name");
  return { name, fileName: found.get("filename") };
}

/** Backslashes as in HTTP, and what browsers and curl write for quotes and line breaks. */
function unescape(text: string): string {
  return text
    .replaceAll(/\\(["\\])/g, "$1")
    .replaceAll(/%(?:22|0D|0A)/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}

function invalid(why: string): ProblemError {
  return new ProblemError(toInvalidForm(why));
}

export function toInvalidForm(why: string): Problem {
  return { status: 422, code: "INVALID_BODY", detail: `The form is wrong: ${why}` };
}
