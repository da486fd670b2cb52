// Bytes that come in pieces, kept in one piece: ten thousand chunks of a byte cost ten thousand bytes.

export class GrowingBuffer {
  #bytes: Buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.min(this.#bytes.length * 2, length + MAX_SPARE)));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
  }

  /** What there is, without a copy. Later appends do not change it. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.#length = 0;
  }
}

const EMPTY: Buffer = Buffer.alloc(0);
const MAX_SPARE = 4 * 1024 * 1024;
