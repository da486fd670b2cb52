// Width and height of a JPEG. Its pixels are not decoded.

const START = 0xd8;
const SCAN = 0xda;
const END = Buffer.from([0xff, 0xd9]);
/** Frame headers, which contain the size. Three markers of the range are tables. */
const FRAMES = { first: 0xc0, last: 0xcf, tables: [0xc4, 0xc8, 0xcc] };

/** Undefined: it is not a complete JPEG. */
export function parseJpegSize(data: Buffer): { readonly width: number; readonly height: number } | undefined {
  if (data[0] !== 0xff || data[1] !== START || data.lastIndexOf(END) < 0) return undefined;
  for (let at = 2; at + 9 <= data.length;) {
    const marker = data[at + 1] ?? 0;
    if (data[at] !== 0xff || marker === SCAN) return undefined;
    if (marker === 0xff) {
      at += 1; // padding
      continue;
    }
    if (marker >= FRAMES.first && marker <= FRAMES.last && !FRAMES.tables.includes(marker)) {
      const [height, width] = [data.readUInt16BE(at + 5), data.readUInt16BE(at + 7)];
      return width > 0 && height > 0 ? { width, height } : undefined;
    }
    at += 2 + data.readUInt16BE(at + 2);
  }
  return undefined;
}
