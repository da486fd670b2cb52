// Parses JSON that a session sent, unless it is nested deeply: parsing megabytes of brackets takes seconds, and whatever walks through the
// value overflows the stack.

const MAX_DEPTH = 200;
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Undefined: it is no JSON, or too deep. */
export function parseShallow(json: string): unknown {
  if (isDeep(json)) return undefined;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

function isDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) at = endOfText(json, at + 1);
    else if (unit === OPEN_LIST || unit === OPEN_OBJECT) depth += 1;
    else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** The place of its closing quote. */
function endOfText(json: string, from: number): number {
  for (let at = from; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at += 1;
  }
  return json.length;
}
