// Whether a file is UTF-8 text, judged by its first bytes.

import { isUtf8 } from "node:buffer";
import { readHead } from "../../../util/files/read-file.ts";
import type { NotText } from "./not-text.ts";

export interface Classified {
  readonly kind: "text" | "unreadable" | NotText;
  readonly size: number;
  /** All of a small text, so that it is read once. Absent: it is large, or enough is kept. */
  readonly content?: Buffer;
}

const LOOK_BYTES = 64 * 1024;
const MAX_KEPT_BYTES = 64 * 1024 ** 2;

/** Classifies files with a pool of buffers, one for each file that is read at once. */
export class Classifier {
  readonly #free: Buffer[] = [];
  #keptBytes = 0;

  async classify(path: string): Promise<Classified> {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(LOOK_BYTES);
    try {
      const { head, size } = await readHead(path, buffer);
      const kind = toKind(head, head.length === LOOK_BYTES);
      const isKept = kind === "text" && head.length === size && this.#keptBytes + size <= MAX_KEPT_BYTES;
      if (!isKept) return { kind, size };
      this.#keptBytes += size;
      return { kind, size, content: Buffer.from(head) };
    } catch {
      return { kind: "unreadable", size: 0 };
    } finally {
      this.#free.push(buffer);
    }
  }
}

/** `isCut`: the text may go on, so its last character may be incomplete. */
function toKind(bytes: Buffer, isCut: boolean): "text" | NotText {
  const mark = bytes.subarray(0, 2).toString("hex");
  if (mark === "fffe" || mark === "feff") return "utf-16";
  if (bytes.includes(0)) return "binary";
  if (isUtf8(isCut ? withoutCutCharacter(bytes) : bytes)) return "text";
  return bytes.some(isControl) ? "binary" : "other-encoding";
}

function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80 || byte >= 0xc0) return lengthOf(byte) > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

/** Of a character in UTF-8, by its first byte. 0: no character begins with it. */
function lengthOf(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  if (byte < 0xf0) return 3;
  return byte < 0xf5 ? 4 : 0;
}

/** Other than white space and escape. No text in an encoding of single bytes has them. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b;
}
