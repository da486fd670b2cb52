// Cutting UTF-8 between characters.

/** Removes an incomplete character at the end. */
export function trimBrokenEnd(data: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= data.length; back += 1) {
    const byte = data[data.length - back] ?? 0;
    if (byte < 0x80) return data;
    if (byte >= 0xc0) return sizeOfCharacter(byte) > back ? data.subarray(0, data.length - back) : data;
  }
  return data;
}

/** Removes the rest of a character at the start whose first byte is missing. */
export function trimBrokenStart(data: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(data[start])) start += 1;
  return data.subarray(start);
}

/** Whether a cut right before this byte breaks no character. */
export function isCharacterStart(data: Buffer, at: number): boolean {
  if (!isContinuation(data[at])) return true;
  const before = data.subarray(Math.max(0, at - 3), at);
  return trimBrokenEnd(before).length === before.length;
}

function sizeOfCharacter(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The data may be cut anywhere: a character is counted by its first byte. */
export function countCharacters(data: Buffer): number {
  let count = 0;
  for (const byte of data) if (!isContinuation(byte)) count += 1;
  return count;
}
