// The output of one stream of one execution or task: in memory while it is small, then in an anonymous file.
//
// The result keeps the beginning and the end. What lies between stays readable by offset up to a limit, past which bytes are counted and
// dropped. So endless output takes a fixed amount of memory and disk. Output that has ended gives up its file, from the end on, when others
// need the space; it then keeps in memory what a result keeps.

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
  /** The last bytes, once some were dropped. */
  readonly #tail = new ByteBuffer();
  /** Null: it could not be created or was given up, so only the head is readable. */
  #file: SpillFile | null | undefined;
  #total = 0;
  /** Something was dropped, so that what follows cannot be readable either. */
  #isCut = false;
  #isFinished = false;
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
    const stored = this.#isCut ? 0 : this.#store(chunk);
    if (stored === chunk.length) return;
    this.#isCut = true;
    this.#appendTail(chunk.subarray(stored));
  }

  /** No more is expected, though more may come. */
  finish(): void {
    this.#isFinished = true;
    if (this.#file) this.#limits.files.addFinished(this);
  }

  /** Called where others need the space. */
  shrink(bytes: number): boolean {
    const file = this.#file;
    if (!file) return false;
    const { keptBytes } = this.#limits;
    const last = Buffer.from(this.#lastBytes(Math.ceil(keptBytes / 2)));
    this.#isCut = true;
    this.#tail.clear();
    this.#tail.append(last);
    const length = Math.max(file.length - bytes, Math.floor(keptBytes / 2));
    if (length < file.length) {
      file.truncate(length);
      return true;
    }
    this.#head.append(file.read(0, length));
    this.#file = null;
    file.truncate(0);
    file.close();
    return false;
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
    this.#limits.files.removeFinished(this);
    this.#file?.close();
    this.#file = null;
    this.#head.clear();
    this.#tail.clear();
  }

  /** How many bytes, from the first, stay readable. */
  #store(chunk: Buffer): number {
    const { keptBytes, readableBytes } = this.#limits;
    const wanted = chunk.subarray(0, Math.max(0, readableBytes - this.readable));
    if (this.#file) return this.#write(this.#file, wanted);
    const inHead = wanted.subarray(0, Math.max(0, keptBytes - this.#head.length));
    this.#head.append(inHead);
    if (inHead.length === wanted.length) return wanted.length;
    this.#file = this.#spill();
    return inHead.length + (this.#file === null ? 0 : this.#write(this.#file, wanted.subarray(inHead.length)));
  }

  /** Output that came late is not given up to make room for itself. */
  #write(file: SpillFile, data: Buffer): number {
    const { files } = this.#limits;
    if (this.#isFinished) files.removeFinished(this);
    const written = file.append(data);
    if (this.#isFinished) files.addFinished(this);
    return written;
  }

  #spill(): SpillFile | null {
    const file = this.#limits.files.open();
    if (file === undefined) return null;
    if (file.append(this.#head.view()) < this.#head.length) {
      file.close();
      return null;
    }
    this.#head.clear();
    if (this.#isFinished) this.#limits.files.addFinished(this);
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
