// The position of a reader in a transcript, as text with which it can resume: the item, the offset into it, and the first bytes of a
// character that is not complete yet.

import type { OutputStream } from "../protocol/execution.ts";
import { trimBrokenEnd } from "../util/text/utf8.ts";

const FORM =
  /^(?<index>\d{1,9})\.(?<offset>\d{1,15})(?:\.(?<stdout>(?:[\da-f]{2}){0,3})\.(?<stderr>(?:[\da-f]{2}){0,3}))?$/;
const NOTHING = Buffer.alloc(0);

/** After the last event. */
const END = "end";

export class Cursor {
  /** Before the first event. */
  isStart = true;
  isEnd = false;
  /** The next item, or the one that was read in part. */
  index = 0;
  /** Into the log of the stream, where the item is output. */
  offset = 0;
  readonly #partial = { stdout: NOTHING, stderr: NOTHING };

  /** Undefined: the text is not a cursor. */
  static parse(text: string): Cursor | undefined {
    const groups = FORM.exec(text)?.groups;
    if (groups === undefined && text !== END) return undefined;
    const cursor = Cursor.at(Number(groups?.["index"] ?? 0), Number(groups?.["offset"] ?? 0));
    cursor.isEnd = groups === undefined;
    cursor.#partial.stdout = Buffer.from(groups?.["stdout"] ?? "", "hex");
    cursor.#partial.stderr = Buffer.from(groups?.["stderr"] ?? "", "hex");
    return cursor;
  }

  /** Everything before this position was read. */
  static at(index: number, offset: number): Cursor {
    const cursor = new Cursor();
    cursor.isStart = false;
    cursor.index = index;
    cursor.offset = offset;
    return cursor;
  }

  toString(): string {
    if (this.isEnd) return END;
    const { stdout, stderr } = this.#partial;
    const partial = stdout.length + stderr.length === 0 ? "" : `.${stdout.toString("hex")}.${stderr.toString("hex")}`;
    return `${this.index}.${this.offset}${partial}`;
  }

  toNextItem(): void {
    this.index += 1;
    this.offset = 0;
  }

  /** Decodes complete characters; keeps the bytes of an incomplete one. */
  decode(stream: OutputStream, data: Buffer): string {
    const before = this.#partial[stream];
    const all = before.length === 0 ? data : Buffer.concat([before, data]);
    const whole = trimBrokenEnd(all);
    this.#partial[stream] = whole.length === all.length ? NOTHING : Buffer.from(all.subarray(whole.length));
    return whole.toString("utf8");
  }

  /** Decodes the kept bytes, when no more will come. */
  decodeRest(stream: OutputStream): string {
    const rest = this.#partial[stream].toString("utf8");
    this.#partial[stream] = NOTHING;
    return rest;
  }
}
