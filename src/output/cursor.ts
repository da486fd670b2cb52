// How far a reader of a story has come, as a text that it can come back with: which item, how far into it, and the first bytes of
// characters whose rest has not come yet.

import type { OutputStream } from "../protocol/execution.ts";
import { trimBrokenEnd } from "../util/text/utf8.ts";

const FORM =
  /^(?<index>\d{1,9})\.(?<offset>\d{1,15})(?:\.(?<stdout>(?:[\da-f]{2}){0,3})\.(?<stderr>(?:[\da-f]{2}){0,3}))?$/;
const NOTHING = Buffer.alloc(0);

/** After the last event. */
const END = "end";

export class Place {
  /** Nothing was told yet. */
  isStart = true;
  isEnd = false;
  /** The item that comes next, or that a part of was told. */
  index = 0;
  /** In the log of its stream, where the item is output. */
  offset = 0;
  readonly #partial = { stdout: NOTHING, stderr: NOTHING };

  /** Undefined: no reader was ever told this. */
  static parse(text: string): Place | undefined {
    const groups = FORM.exec(text)?.groups;
    if (groups === undefined && text !== END) return undefined;
    const place = Place.at(Number(groups?.["index"] ?? 0), Number(groups?.["offset"] ?? 0));
    place.isEnd = groups === undefined;
    place.#partial.stdout = Buffer.from(groups?.["stdout"] ?? "", "hex");
    place.#partial.stderr = Buffer.from(groups?.["stderr"] ?? "", "hex");
    return place;
  }

  /** A reader that has come so far, and told everything before it. */
  static at(index: number, offset: number): Place {
    const place = new Place();
    place.isStart = false;
    place.index = index;
    place.offset = offset;
    return place;
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

  /** The whole characters that there are now; a part of one waits for its rest. */
  decode(stream: OutputStream, data: Buffer): string {
    const before = this.#partial[stream];
    const all = before.length === 0 ? data : Buffer.concat([before, data]);
    const whole = trimBrokenEnd(all);
    this.#partial[stream] = whole.length === all.length ? NOTHING : Buffer.from(all.subarray(whole.length));
    return whole.toString("utf8");
  }

  /** What waits for a rest that will not come. */
  decodeRest(stream: OutputStream): string {
    const rest = this.#partial[stream].toString("utf8");
    this.#partial[stream] = NOTHING;
    return rest;
  }
}
