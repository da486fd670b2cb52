// JSON that would cost far more memory parsed than as text: counted before it is parsed.

import { MAX_DEPTH, MAX_PARTS } from "../protocol/worker-events.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Whether the first `length` bytes hold too many values, or values nested too deeply. */
export function isTooRich(json: Buffer, length: number): boolean {
  if (length <= 2 * MAX_DEPTH) return false; // too short to be either
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at + 1, length);
        break;
      case COMMA:
        parts += 1;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        parts += 1;
        if (depth > MAX_DEPTH) return true;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      default:
        break;
    }
  }
  return parts > MAX_PARTS;
}

/** Where the closing quote is; the end where there is none. */
function endOfString(json: Buffer, from: number, length: number): number {
  for (let at = json.indexOf(QUOTE, from); at !== -1 && at < length; at = json.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (escapes > from && json[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
  }
  return length;
}
