// What a text in a file will take in Python: 1, 2 or 4 bytes for each character, as its widest one needs.

import { isAscii, isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileRange } from "../../session/state/set-variable.ts";
import { readChunks } from "../../util/bytes/read-chunks.ts";

export interface TextSize {
  readonly bytes: number;
  /** While it is loaded: a text is copied when a wider character comes. */
  readonly peakBytes: number;
  /** For each character. 0: it is no text, and stays as it is. */
  readonly width: 0 | 1 | 2 | 4;
}

/** Reads all of it. Throws what the system says. */
export async function measureText(path: string, range: FileRange | undefined, signal: AbortSignal): Promise<TextSize> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const start = range?.offset ?? 0;
    const text = new TextMeter();
    for await (const chunk of readChunks(file, start, range ? start + range.length : Number.POSITIVE_INFINITY)) {
      signal.throwIfAborted();
      text.add(chunk);
    }
    return text.size();
  } finally {
    await file.close();
  }
}

class TextMeter {
  #characters = 0;
  #bytes = 0;
  #width: 1 | 2 | 4 = 1;
  #isASCII = true;
  #peak = 0;
  #isText = true;
  /** The beginning of a character whose end is in the next chunk. */
  #rest = Buffer.alloc(0);

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (!this.#isText) return;
    if (this.#rest.length === 0 && isAscii(chunk)) {
      this.#characters += chunk.length;
      return;
    }
    const all = Buffer.concat([this.#rest, chunk]);
    const text = all.subarray(0, all.length - lengthOfCut(all));
    this.#rest = all.subarray(text.length);
    this.#isText = isUtf8(text);
    if (this.#isText) this.#addWide(text);
  }

  size(): TextSize {
    if (!this.#isText || this.#rest.length > 0) return { bytes: this.#bytes, peakBytes: this.#bytes, width: 0 };
    const bytes = this.#characters * this.#width;
    return { bytes, peakBytes: Math.max(this.#peak, bytes), width: this.#width };
  }

  #addWide(text: Buffer): void {
    let [characters, highest] = [0, 0];
    for (const byte of text) {
      if ((byte & 0xc0) !== 0x80) characters += 1;
      if (byte > highest) highest = byte;
    }
    const width = highest >= 0xf0 ? 4 : highest >= 0xc4 ? 2 : 1;
    // Python stores ASCII in another form than other characters of one byte.
    if (width > this.#width || (this.#isASCII && highest >= 0x80)) {
      this.#peak = Math.max(this.#peak, this.#characters * this.#width + (this.#characters + characters) * width);
      this.#width = width > this.#width ? width : this.#width;
    }
    this.#isASCII &&= highest < 0x80;
    this.#characters += characters;
  }
}

/** Of the character at the end that is not complete. 0: there is none. */
function lengthOfCut(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}
