// Pixels of a PNG, for terminals that cannot read one themselves. The image comes from user code: every length in it is
// checked, and what is out of the ordinary (interlaced, 16 bits, enormous) is undefined rather than half right.

import { inflateSync } from "node:zlib";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each, rows from the top; transparent ones are white behind. */
  readonly rgb: Uint8Array;
}

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const MAX_PIXELS = 16 * 1024 * 1024;
/** Bytes of a pixel, by colour type: grey, colours, palette, grey and alpha, colours and alpha. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export function isPng(data: Buffer): boolean {
  return data.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}

export function parsePng(data: Buffer): Pixels | undefined {
  const chunks = parseChunks(data);
  const header = chunks?.get("IHDR");
  if (chunks === undefined || header?.length !== 13) return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, type, , , interlace] = header.subarray(8);
  const channels = CHANNELS[type ?? -1];
  if (depth !== 8 || interlace !== 0 || channels === undefined) return undefined;
  if (width === 0 || height === 0 || width * height > MAX_PIXELS) return undefined;
  const palette = chunks.get("PLTE");
  if (type === 3 && palette === undefined) return undefined;
  const rows = inflate(chunks.get("IDAT"), (width * channels + 1) * height);
  if (rows === undefined || !unfilter(rows, width * channels, height, channels)) return undefined;
  return { width, height, rgb: toRgb(rows, { width, height, channels, type: type ?? 0, palette }) };
}

/** By name; those of one name joined. */
function parseChunks(data: Buffer): Map<string, Buffer> | undefined {
  if (!isPng(data)) return undefined;
  const found = new Map<string, Buffer[]>();
  for (let at = SIGNATURE.length; at + 12 <= data.length;) {
    const length = data.readUInt32BE(at);
    const name = data.toString("latin1", at + 4, at + 8);
    if (at + 12 + length > data.length) break;
    found.set(name, [
      ...(name === "IDAT" || !found.has(name) ? (found.get(name) ?? []) : []),
      data.subarray(at + 8, at + 8 + length),
    ]);
    at += 12 + length;
  }
  return new Map([...found].map(([name, parts]) => [name, Buffer.concat(parts)]));
}

function inflate(data: Buffer | undefined, size: number): Buffer | undefined {
  try {
    const rows = inflateSync(data ?? Buffer.alloc(0), { maxOutputLength: size });
    return rows.length === size ? rows : undefined;
  } catch {
    return undefined;
  }
}

/** In place: each row keeps its leading byte, which says how the row was written down. */
function unfilter(rows: Buffer, stride: number, height: number, channels: number): boolean {
  for (let row = 0; row < height; row += 1) {
    const start = row * (stride + 1);
    const filter = rows[start] ?? 0;
    if (filter > 4) return false;
    if (filter === 0) continue;
    for (let index = 0; index < stride; index += 1) {
      const at = start + 1 + index;
      const left = index >= channels ? (rows[at - channels] ?? 0) : 0;
      const above = row > 0 ? (rows[at - stride - 1] ?? 0) : 0;
      const corner = row > 0 && index >= channels ? (rows[at - stride - 1 - channels] ?? 0) : 0;
      rows[at] = (rows[at] ?? 0) + guess(filter, left, above, corner);
    }
  }
  return true;
}

function guess(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const sum = left + above - corner;
  const [toLeft, toAbove, toCorner] = [Math.abs(sum - left), Math.abs(sum - above), Math.abs(sum - corner)];
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

interface Format {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly type: number;
  readonly palette: Buffer | undefined;
}

function toRgb(rows: Buffer, { width, height, channels, type, palette }: Format): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  const hasColours = type === 2 || type === 6;
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const at = Math.floor(pixel / width) * (width * channels + 1) + 1 + (pixel % width) * channels;
    const alpha = type === 6 ? (rows[at + 3] ?? 255) : type === 4 ? (rows[at + 1] ?? 255) : 255;
    for (let part = 0; part < 3; part += 1) {
      const value =
        type === 3 ? (palette?.[(rows[at] ?? 0) * 3 + part] ?? 0) : (rows[hasColours ? at + part : at] ?? 0);
      rgb[pixel * 3 + part] = Math.round((value * alpha + 255 * (255 - alpha)) / 255);
    }
  }
  return rgb;
}
