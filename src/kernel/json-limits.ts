// Rejects JSON that would take far more memory parsed than as text, before it is parsed.

import { MAX_DEPTH, MAX_PARTS } from "../protocol/worker/limits.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether the first `length` bytes hold too many values, or values that are nested too deeply. */
export function exceedsJsonLimits(json: Buffer, length: number): boolean {
  if (length <= 2 * MAX_DEPTH) return false; // too short for either
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at + 1, length);
    else if (byte === COMMA) parts += 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      parts += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return parts > MAX_PARTS;
}

/** The index of the closing quote; `length` if there is none. */
function endOfString(json: Buffer, from: number, length: number): number {
  for (let at = json.indexOf(QUOTE, from); at !== -1 && at < length; at = json.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (escapes > from && json[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
  }
  return length;
}
