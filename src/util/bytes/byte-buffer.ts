// A growing buffer. Its block doubles, so that appending takes amortised linear time.

const SMALLEST = 1024;

export class ByteBuffer {
  #block: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(data: Buffer): void {
    const needed = this.#length + data.length;
    if (needed > this.#block.length) this.#grow(needed);
    data.copy(this.#block, this.#length);
    this.#length = needed;
  }

  /** A view, valid until the next change. */
  view(start = 0, end = this.#length): Buffer {
    return this.#block.subarray(start, Math.min(end, this.#length));
  }

  /** Drops all but the last bytes. */
  keepLast(count: number): void {
    if (count >= this.#length) return;
    this.#block.copyWithin(0, this.#length - count, this.#length);
    this.#length = count;
  }

  clear(): void {
    this.#block = Buffer.alloc(0);
    this.#length = 0;
  }

  #grow(needed: number): void {
    const block = Buffer.allocUnsafeSlow(Math.max(SMALLEST, needed, this.#block.length * 2));
    this.#block.copy(block, 0, 0, this.#length);
    this.#block = block;
  }
}
