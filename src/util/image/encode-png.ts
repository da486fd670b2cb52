// Encodes pixels as a PNG with 8 bits per channel and no transparency.

import { promisify } from "node:util";
import { crc32, deflate as deflateLater } from "node:zlib";
import { nearest } from "./png-rows.ts";
import { PNG_SIGNATURE, type Pixels } from "./png.ts";

const deflate = promisify<Buffer, Buffer>(deflateLater);
const COLOURS = 2;

/** Figures, with large areas of one colour, compress best unfiltered; photographs compress better when each pixel is predicted first. */
export async function toPng(pixels: Pixels): Promise<Buffer> {
  const [plain, guessed] = await Promise.all([deflate(toRows(pixels)), deflate(toGuessedRows(pixels))]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels.width, 0);
  header.writeUInt32BE(pixels.height, 4);
  header.set([8, COLOURS, 0, 0, 0], 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    toChunk("IHDR", header),
    toChunk("IDAT", plain.length <= guessed.length ? plain : guessed),
    toChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A row begins with its filter type: 0 for none. */
function toRows({ width, height, rgb }: Pixels): Buffer {
  const stride = width * 3;
  const rows = Buffer.alloc((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    rows.set(rgb.subarray(row * stride, (row + 1) * stride), row * (stride + 1) + 1);
  }
  return rows;
}

function toGuessedRows({ width, height, rgb }: Pixels): Buffer {
  const stride = width * 3;
  const rows = Buffer.alloc((stride + 1) * height);
  for (let row = 0, from = 0; row < height; row += 1) {
    const start = row * (stride + 1);
    rows[start] = 4;
    for (let at = 0; at < stride; at += 1, from += 1) {
      const left = at < 3 ? 0 : (rgb[from - 3] ?? 0);
      const up = row === 0 ? 0 : (rgb[from - stride] ?? 0);
      const corner = at < 3 || row === 0 ? 0 : (rgb[from - stride - 3] ?? 0);
      rows[start + 1 + at] = (rgb[from] ?? 0) - nearest(left, up, corner);
    }
  }
  return rows;
}

function toChunk(name: string, content: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + content.length);
  chunk.writeUInt32BE(content.length, 0);
  chunk.write(name, 4, "latin1");
  chunk.set(content, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + content.length)), 8 + content.length);
  return chunk;
}
