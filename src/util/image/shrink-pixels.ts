// Scales an image down. Each pixel is the mean of the area that it covers, so thin lines get fainter and never vanish. Yields to the event
// loop every few milliseconds.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Pixels, Png } from "./png.ts";

const SLICE_MS = 10;

/** Neither side is longer than this; proportions are kept. Consumes the rows. */
export async function shrinkPixels(image: Png, maxSide: number): Promise<Pixels> {
  const scale = Math.min(1, maxSide / Math.max(image.width, image.height));
  const width = Math.max(1, Math.round(image.width * scale));
  const height = Math.max(1, Math.round(image.height * scale));
  const rgb = new Uint8Array(width * height * 3);
  const across = toShares(image.width, width);
  const down = toShares(image.height, height);
  let [sums, next] = [new Float64Array(width * 3), new Float64Array(width * 3)];
  const narrow = new Float64Array(width * 3);
  const area = (image.width / width) * (image.height / height);
  let y = 0;
  let sliceEnd = performance.now() + SLICE_MS;
  for (const row of image.rows) {
    if (performance.now() > sliceEnd) {
      await yieldToEventLoop();
      sliceEnd = performance.now() + SLICE_MS;
    }
    if (row.length === 0) continue;
    const [index = 0, share = 1] = [down.indexes[y], down.shares[y]];
    toNarrow(row, across, narrow);
    add(narrow, share, sums);
    if (share < 1) add(narrow, 1 - share, next);
    y += 1;
    if (down.indexes[y] === index) continue;
    for (let at = 0; at < sums.length; at += 1) rgb[index * width * 3 + at] = Math.round((sums[at] ?? 0) / area);
    [sums, next] = [next, sums];
    next.fill(0);
  }
  return { width, height, rgb };
}

/** For each source pixel: its target pixel, and its share there; the rest goes to the next one. */
interface Shares {
  readonly indexes: Uint32Array;
  readonly shares: Float64Array;
}

function toShares(from: number, to: number): Shares {
  const indexes = Uint32Array.from({ length: from }, (_, at) => Math.floor((at * to) / from));
  const shares = Float64Array.from(indexes, (index, at) => Math.min(1, ((index + 1) * from) / to - at));
  return { indexes, shares };
}

/** The sums of one target row. */
function toNarrow(row: Uint8Array, { indexes, shares }: Shares, narrow: Float64Array): void {
  let [red, green, blue] = [0, 0, 0];
  for (let x = 0, from = 0; x < indexes.length; x += 1, from += 3) {
    const share = shares[x] ?? 1;
    const [r, g, b] = [row[from] ?? 0, row[from + 1] ?? 0, row[from + 2] ?? 0];
    red += r * share;
    green += g * share;
    blue += b * share;
    const index = indexes[x] ?? 0;
    if (indexes[x + 1] === index) continue;
    narrow[index * 3] = red;
    narrow[index * 3 + 1] = green;
    narrow[index * 3 + 2] = blue;
    [red, green, blue] = [r * (1 - share), g * (1 - share), b * (1 - share)];
  }
}

function add(narrow: Float64Array, share: number, sums: Float64Array): void {
  for (let at = 0; at < sums.length; at += 1) sums[at] = (sums[at] ?? 0) + (narrow[at] ?? 0) * share;
}
