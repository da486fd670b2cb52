// Decodes PNGs. The image comes from user code: every length and checksum is verified before it is used, and anything unusual gives
// undefined rather than a partial result.

import { promisify } from "node:util";
import { crc32, inflate as inflateLater, type ZlibOptions } from "node:zlib";
import { type PngFormat, bytesOfRows, hasKnownFilters, readRows } from "./png-rows.ts";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** RGB, rows from the top, transparency on white. */
  readonly rgb: Uint8Array;
}

export interface Png {
  readonly width: number;
  readonly height: number;
  /**
   * RGB from the top; each row is valid until the next. Can be read once. An empty row means that there is work to do before the next one,
   * so that no step takes long.
   */
  readonly rows: Iterable<Uint8Array>;
}

const inflate = promisify<Buffer, ZlibOptions, Buffer>(inflateLater);
const CHUNK_BYTES = 1024 * 1024;
export const PNG_SIGNATURE: Buffer = Buffer.from("89504e470d0a1a0a", "hex");
const DEFAULT_MAX_PIXELS = 16 * 1024 * 1024;
const MAX_INFLATED_BYTES = 256 * 1024 * 1024;
/** Image data chunks: programs write thousands of bytes into each, and a chunk has a cost. */
const MAX_CHUNKS = 65_536;
/** Other chunks that are read. */
const KNOWN = ["IHDR", "PLTE", "tRNS"];
/** By colour type. */
const COLOUR_TYPES: Readonly<Record<number, { readonly channels: number; readonly depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] }, // grey
  2: { channels: 3, depths: [8, 16] }, // RGB
  3: { channels: 1, depths: [1, 2, 4, 8] }, // palette
  4: { channels: 2, depths: [8, 16] }, // grey and alpha
  6: { channels: 4, depths: [8, 16] }, // RGB and alpha
};

export function isPng(data: Buffer): boolean {
  return data.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE);
}

/** Reads the header only. */
export function pngSize(data: Buffer): { readonly width: number; readonly height: number } | undefined {
  if (!isPng(data) || data.length < 24) return undefined;
  return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
}

export async function parsePng(data: Buffer): Promise<Pixels | undefined> {
  const png = await readPng(data);
  if (png === undefined) return undefined;
  const { width, height, rows } = png;
  const rgb = new Uint8Array(width * height * 3);
  let at = 0;
  for (const row of rows) {
    rgb.set(row, at);
    at += row.length;
  }
  return { width, height, rgb };
}

/** For images that are too large to hold or to wait for: unpacks row by row, in small steps. Default limit: 16 mebipixels. */
export async function readPng(data: Buffer, { maxPixels = DEFAULT_MAX_PIXELS } = {}): Promise<Png | undefined> {
  const chunks = parseChunks(data);
  const format = chunks && parseFormat(chunks);
  if (chunks === undefined || format === undefined || format.width * format.height > maxPixels) return undefined;
  const size = bytesOfRows(format);
  if (size > MAX_INFLATED_BYTES) return undefined;
  const packed = chunks.get("IDAT") ?? Buffer.alloc(0);
  const bytes = await inflate(packed, { maxOutputLength: size, chunkSize: CHUNK_BYTES }).catch(() => undefined);
  if (bytes?.length !== size || !hasKnownFilters(bytes, format)) return undefined;
  return { width: format.width, height: format.height, rows: readRows(bytes, format) };
}

/** By type: all image data joined, and the first of each other type. Undefined: there is no proper end. */
function parseChunks(data: Buffer): Map<string, Buffer> | undefined {
  if (!isPng(data)) return undefined;
  const found = new Map<string, Buffer>();
  const image: Buffer[] = [];
  for (let at = PNG_SIGNATURE.length; at + 12 <= data.length;) {
    const end = at + 8 + data.readUInt32BE(at);
    if (end + 4 > data.length) return undefined;
    if (crc32(data.subarray(at + 4, end)) !== data.readUInt32BE(end)) return undefined;
    const name = data.toString("latin1", at + 4, at + 8);
    const content = data.subarray(at + 8, end);
    if (name === "IEND") return found.set("IDAT", Buffer.concat(image));
    if (name === "IDAT" && image.push(content) > MAX_CHUNKS) return undefined;
    if (KNOWN.includes(name) && !found.has(name)) found.set(name, content);
    at = end + 4;
  }
  return undefined;
}

function parseFormat(chunks: ReadonlyMap<string, Buffer>): PngFormat | undefined {
  const header = chunks.get("IHDR");
  if (header?.length !== 13) return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, type = -1, compression, filter, interlace = -1] = header.subarray(8);
  const known = COLOUR_TYPES[type];
  if (known === undefined || !known.depths.includes(depth)) return undefined;
  if (compression !== 0 || filter !== 0 || ![0, 1].includes(interlace)) return undefined;
  const palette = chunks.get("PLTE");
  if (width === 0 || height === 0 || (type === 3 && palette === undefined)) return undefined;
  const transparency = chunks.get("tRNS");
  return { width, height, depth, type, channels: known.channels, isInterlaced: interlace === 1, palette, transparency };
}
