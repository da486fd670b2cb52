// The path of a session file in a URL: percent-encoded bytes, which need not be UTF-8.

import { isUtf8 } from "node:buffer";

const PREFIX = /^\/v1\/sessions\/[^/]+\/files\//;

/**
 * Bytes that are not UTF-8 become lone surrogates, as in Python's file names. The router would leave such bytes encoded, so that two names
 * could be confused; so the URL itself is decoded.
 */
export function toFilePath({ url }: Pick<Request, "url">): string {
  const encoded = new URL(url).pathname.replace(PREFIX, "");
  return encoded.replaceAll(/(?:%[\dA-Fa-f]{2})+/g, (run) => decode(Buffer.from(run.replaceAll("%", ""), "hex")));
}

function decode(bytes: Buffer): string {
  let text = "";
  let at = 0;
  while (at < bytes.length) {
    const length = lengthOf(bytes[at] ?? 0);
    const part = bytes.subarray(at, at + length);
    const isCharacter = length > 0 && part.length === length && isUtf8(part);
    text += isCharacter ? part.toString("utf8") : String.fromCodePoint(0xdc00 + (bytes[at] ?? 0));
    at += isCharacter ? length : 1;
  }
  return text;
}

/** The length of a character that starts with this byte; 0: none does. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}
