// Where the content of a part of a form is in the file that receives it, with its digest.

import { createHash, type Hash } from "node:crypto";

export interface ReceivedRange {
  readonly offset: number;
  readonly length: number;
  /** The same for the same bytes. */
  readonly digest: string;
}

export class PartMeter {
  readonly #sizes: readonly number[];
  readonly #ranges: ReceivedRange[] = [];
  #offset: number;
  #hash: Hash = createHash("sha256");
  /** Of the current file. */
  #length = 0;
  /** Behind the last file. */
  #excess = 0;

  /** `offset`: where the part begins. `sizes`: of the files in it, one after the other. Absent: it is one file of any size. */
  constructor(offset: number, sizes: readonly number[] = [Number.POSITIVE_INFINITY]) {
    this.#offset = offset;
    this.#sizes = sizes;
    this.#endFiles();
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#excess === 0;) {
      const size = this.#sizes[this.#ranges.length];
      if (size === undefined) {
        this.#excess += 1;
        return;
      }
      const piece = chunk.subarray(at, at + size - this.#length);
      this.#hash.update(piece);
      this.#length += piece.length;
      at += piece.length;
      this.#endFiles();
    }
  }

  /** One for each file. Undefined: the part has another size than they have together. */
  end(): readonly ReceivedRange[] | undefined {
    if (this.#sizes.at(-1) === Number.POSITIVE_INFINITY) this.#endFile();
    return this.#excess > 0 || this.#ranges.length < this.#sizes.length ? undefined : this.#ranges;
  }

  /** The current file where it is complete, and those behind it that are empty. */
  #endFiles(): void {
    while (this.#sizes[this.#ranges.length] === this.#length) this.#endFile();
  }

  #endFile(): void {
    this.#ranges.push({ offset: this.#offset, length: this.#length, digest: this.#hash.digest("base64") });
    this.#offset += this.#length;
    this.#hash = createHash("sha256");
    this.#length = 0;
  }
}
