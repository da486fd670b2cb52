// Everything one stream of one execution printed: a little of it in memory, the rest in a file without a name.
//
// The result keeps the beginning and the end. What lies between stays readable by offset up to a bound, past which bytes
// are counted and dropped. Printing without end therefore costs a fixed amount of memory and of disk. The file is
// unlinked as soon as it is open, so that nothing remains whatever becomes of this process.

import { closeSync, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cut } from "../protocol/execution.ts";
import { GrowingBuffer } from "../util/growing-buffer.ts";

export interface OutputBounds {
  /** How much a result shows, beginning and end together. */
  readonly keptBytes: number;
  /** How much stays readable by offset. */
  readonly readableBytes: number;
}

export class OutputLog {
  readonly #bounds: OutputBounds;
  /** The first `keptBytes`; while everything fits, all there is. */
  readonly #head = new GrowingBuffer();
  /** The last bytes, once they are past what the file holds. At most twice half of `keptBytes`. */
  readonly #tail = new GrowingBuffer();
  #file: number | undefined;
  #fileBytes = 0;
  #total = 0;

  constructor(bounds: OutputBounds) {
    this.#bounds = bounds;
  }

  get total(): number {
    return this.#total;
  }

  /** How many bytes, from the first, can be read. */
  get readable(): number {
    return this.#file === undefined ? this.#head.length : this.#fileBytes;
  }

  /** Takes a chunk; it is copied. */
  append(chunk: Buffer): void {
    this.#total += chunk.length;
    if (this.#file === undefined && this.#head.length + chunk.length <= this.#bounds.keptBytes) {
      this.#head.append(chunk);
      return;
    }
    if (this.#file === undefined) this.#spill();
    const room = Math.min(chunk.length, this.#bounds.readableBytes - this.#fileBytes);
    if (room > 0) this.#write(chunk.subarray(0, room));
    if (room < chunk.length) this.#appendTail(chunk.subarray(Math.max(room, 0)));
  }

  /** Bytes from `offset`, at most `length` of them; fewer where the stream ends or was dropped. */
  read(offset: number, length: number): Buffer {
    const end = Math.min(offset + length, this.readable);
    if (offset >= end) return Buffer.alloc(0);
    if (this.#file === undefined) return Buffer.from(this.#head.view().subarray(offset, end));
    const buffer = Buffer.allocUnsafe(end - offset);
    const read = readSync(this.#file, buffer, 0, buffer.length, offset);
    return buffer.subarray(0, read);
  }

  /** The text for a result: whole, or its beginning and end with a line between that says how much is missing. */
  summary(): { readonly text: string; readonly cut: Cut | null } {
    const { keptBytes } = this.#bounds;
    if (this.#total <= keptBytes) return { text: this.#head.view().toString("utf8"), cut: null };
    const half = Math.floor(keptBytes / 2);
    const head = trimEnd(this.read(0, half));
    const tail = trimStart(this.#lastBytes(keptBytes - half));
    const omitted = this.#total - head.length - tail.length;
    const marker = `\n… ${omitted.toLocaleString("en-US")} bytes omitted …\n`;
    return { text: head.toString("utf8") + marker + tail.toString("utf8"), cut: { total: this.#total, omitted } };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#head.clear();
    this.#tail.clear();
  }

  #spill(): void {
    const folder = mkdtempSync(join(tmpdir(), "rlm-output-"));
    const path = join(folder, "log");
    this.#file = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    rmdirSync(folder);
    const all = this.#head.view();
    this.#head.clear();
    this.#write(all);
  }

  #write(data: Buffer): void {
    let written = 0;
    try {
      while (written < data.length) written += writeSync(this.#file!, data, written, data.length - written, this.#fileBytes + written);
    } catch {
      // The disk is full: what did not fit counts as dropped.
      this.#appendTail(data.subarray(written));
    }
    this.#fileBytes += written;
  }

  #appendTail(data: Buffer): void {
    const kept = Math.ceil(this.#bounds.keptBytes / 2);
    this.#tail.append(data);
    if (this.#tail.length > 2 * kept) {
      const all = this.#tail.view();
      this.#tail.clear();
      this.#tail.append(all.subarray(all.length - kept));
    }
  }

  #lastBytes(count: number): Buffer {
    const tail = this.#tail.view();
    if (tail.length >= count) return tail.subarray(tail.length - count);
    const before = this.read(this.readable - (count - tail.length), count - tail.length);
    return Buffer.concat([before, tail]);
  }
}

/** Without the incomplete UTF-8 character at the end, if there is one. */
function trimEnd(data: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= data.length; back += 1) {
    const byte = data[data.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back ? data.subarray(0, data.length - back) : data;
    }
  }
  return data;
}

/** Without the rest of a UTF-8 character whose beginning was cut off. */
function trimStart(data: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < data.length && (data[start]! & 0xc0) === 0x80) start += 1;
  return data.subarray(start);
}
