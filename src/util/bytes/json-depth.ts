// Rejects JSON that is nested deeply before it is parsed: a megabyte of brackets takes a second and hundreds of megabytes of memory.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether the first `length` bytes hold values that are nested more deeply. */
export function isTooDeep(json: Buffer, maxDepth: number, length = json.length): boolean {
  if (length <= 2 * maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at + 1, length);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}

/** The index of the closing quote; `length` if there is none. */
export function endOfString(json: Buffer, from: number, length: number): number {
  for (let at = json.indexOf(QUOTE, from); at !== -1 && at < length; at = json.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (escapes > from && json[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
  }
  return length;
}
