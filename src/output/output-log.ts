// The output of one stream of one execution or task: in memory while it is small, then in an anonymous file.
//
// The result keeps the beginning and the end. What lies between stays readable by offset up to a limit, past which bytes are counted and
// dropped. So endless output takes a fixed amount of memory and disk.

import { formatCount } from "../util/text/format.ts";
import type { Cut } from "../protocol/execution.ts";
import { ByteBuffer } from "../util/bytes/byte-buffer.ts";
import { trimBrokenEnd, trimBrokenStart } from "../util/text/utf8.ts";
import type { SpillFile, SpillFiles } from "./spill-file.ts";

export interface OutputLimits {
  /** How much a result keeps, beginning and end together. */
  readonly keptBytes: number;
  /** How much stays readable by offset. */
  readonly readableBytes: number;
  /** For output that is larger than a result keeps. */
  readonly files: SpillFiles;
}

export class OutputLog {
  readonly #limits: OutputLimits;
  /** All output while it fits into `keptBytes`; empty once there is a file. */
  readonly #head = new ByteBuffer();
  /** The last bytes, once they are past the readable limit. */
  readonly #tail = new ByteBuffer();
  /** Null: it could not be created, so only the head is readable. */
  #file: SpillFile | null | undefined;
  #total = 0;
  #isClosed = false;

  constructor(limits: OutputLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /** How many bytes, from the first, can be read. */
  get readable(): number {
    return this.#file?.length ?? this.#head.length;
  }

  /** Copies the chunk. */
  append(chunk: Buffer): void {
    this.#total += chunk.length;
    if (this.#isClosed) return;
    if (this.#file === undefined && this.#head.length + chunk.length <= this.#limits.keptBytes) {
      this.#head.append(chunk);
      return;
    }
    if (this.#file === undefined) this.#file = this.#spill();
    const written = this.#file === null ? 0 : this.#file.append(chunk.subarray(0, this.#capacity(this.#file)));
    if (written < chunk.length) this.#appendTail(chunk.subarray(written));
  }

  /** At most `length` bytes; fewer where the stream ends or was dropped. */
  read(offset: number, length: number): Buffer {
    const end = Math.min(offset + length, this.readable);
    if (offset >= end) return Buffer.alloc(0);
    return this.#file?.read(offset, end - offset) ?? Buffer.from(this.#head.view(offset, end));
  }

  /** The text for a result: all of it, or the beginning and the end with a line between that counts the omitted bytes. */
  summary(): { readonly text: string; readonly cut: Cut | null } {
    const { keptBytes } = this.#limits;
    if (this.#total <= keptBytes && !this.#isClosed) return { text: this.#head.view().toString("utf8"), cut: null };
    const half = Math.floor(keptBytes / 2);
    const head = trimBrokenEnd(this.read(0, half));
    const tail = trimBrokenStart(this.#lastBytes(keptBytes - half));
    const omitted = this.#total - head.length - tail.length;
    const marker = `\n… ${formatCount(omitted)} bytes omitted …\n`;
    return { text: head.toString("utf8") + marker + tail.toString("utf8"), cut: { total: this.#total, omitted } };
  }

  /** Drops everything but the total, also later output. */
  close(): void {
    this.#isClosed = true;
    this.#file?.close();
    this.#file = null;
    this.#head.clear();
    this.#tail.clear();
  }

  #capacity(file: SpillFile): number {
    return Math.max(0, this.#limits.readableBytes - file.length);
  }

  #spill(): SpillFile | null {
    const file = this.#limits.files.open();
    if (file === undefined) return null;
    if (file.append(this.#head.view()) < this.#head.length) {
      file.close();
      return null;
    }
    this.#head.clear();
    return file;
  }

  #appendTail(data: Buffer): void {
    const kept = Math.ceil(this.#limits.keptBytes / 2);
    this.#tail.append(data);
    if (this.#tail.length > 2 * kept) this.#tail.keepLast(kept);
  }

  #lastBytes(count: number): Buffer {
    const tail = this.#tail.view();
    if (tail.length >= count) return tail.subarray(tail.length - count);
    const missing = count - tail.length;
    return Buffer.concat([this.read(Math.max(0, this.readable - missing), missing), tail]);
  }
}
