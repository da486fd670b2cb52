// Hand-made PNGs of every kind, valid and invalid.

import { crc32, deflateSync } from "node:zlib";

export const CHANNELS = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 } as const;

export interface PngShape {
  readonly width: number;
  readonly height: number;
  /** Default 2: red, green and blue. */
  readonly type?: keyof typeof CHANNELS;
  /** Bits per sample. Default 8. */
  readonly depth?: number;
  /** Row by row. Default: all 0. */
  readonly samples?: ArrayLike<number>;
  readonly palette?: readonly number[];
  readonly transparency?: readonly number[];
  readonly isInterlaced?: boolean;
}

/** Uses the five row filters in turn. */
export function makePng(shape: PngShape): Buffer {
  const { width, height, type = 2, depth = 8, isInterlaced = false, palette, transparency } = shape;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, type, 0, 0, isInterlaced ? 1 : 0], 8);
  return joinChunks(
    makeChunk("IHDR", header),
    ...(palette === undefined ? [] : [makeChunk("PLTE", Buffer.from(palette))]),
    ...(transparency === undefined ? [] : [makeChunk("tRNS", Buffer.from(transparency))]),
    makeChunk("IDAT", deflateSync(Buffer.concat(isInterlaced ? toPasses(shape) : [toRows(shape)]))),
    makeChunk("IEND", Buffer.alloc(0)),
  );
}

export function joinChunks(...chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...chunks]);
}

export function makeChunk(name: string, content: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(content, crc32(name)));
  return Buffer.concat([length, Buffer.from(name, "latin1"), content, sum]);
}

/** Adam7: each pass is an image of its own, and an 8 by 8 pattern assigns pixels to passes. */
function toPasses(shape: PngShape): Buffer[] {
  const pattern = ["16462646", "77777777", "56565656", "77777777", "36463646", "77777777", "56565656", "77777777"];
  const channels = CHANNELS[shape.type ?? 2];
  return ["1", "2", "3", "4", "5", "6", "7"].map((pass) => {
    const rows: number[][] = [];
    for (let y = 0; y < shape.height; y += 1) {
      const row: number[] = [];
      for (let x = 0; x < shape.width; x += 1) {
        if (pattern[y % 8]?.[x % 8] !== pass) continue;
        for (let part = 0; part < channels; part += 1) {
          row.push(shape.samples?.[(y * shape.width + x) * channels + part] ?? 0);
        }
      }
      if (row.length > 0) rows.push(row);
    }
    const width = (rows[0]?.length ?? 0) / channels;
    return toRows({ ...shape, width, height: rows.length, samples: rows.flat() });
  });
}

function toRows({ width, height, type = 2, depth = 8, samples = [] }: PngShape): Buffer {
  const perRow = width * CHANNELS[type];
  const distance = Math.max(1, (CHANNELS[type] * depth) >> 3);
  const packed = Array.from({ length: height }, (_, row) =>
    pack(
      Array.from({ length: perRow }, (__, index) => samples[row * perRow + index] ?? 0),
      depth,
    ),
  );
  const rows = packed.map((bytes, row) => {
    const at = (up: number, index: number): number => (index < 0 ? 0 : (packed[row - up]?.[index] ?? 0));
    const filtered = bytes.map((value, index) => {
      const [left, above, corner] = [at(0, index - distance), at(1, index), at(1, index - distance)];
      const paeth = [left, above, corner].toSorted(
        (a, b) => Math.abs(left + above - corner - a) - Math.abs(left + above - corner - b),
      )[0];
      return (value - ([0, left, above, (left + above) >> 1, paeth ?? 0][row % 5] ?? 0)) & 255;
    });
    return Buffer.from([row % 5, ...filtered]);
  });
  return Buffer.concat(rows);
}

function pack(samples: readonly number[], depth: number): number[] {
  const bits = samples.map((sample) => sample.toString(2).padStart(depth, "0")).join("");
  return Array.from({ length: Math.ceil(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8).padEnd(8, "0"), 2),
  );
}
