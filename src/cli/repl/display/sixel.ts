// Encodes pixels as sixels, the bitmap format of DEC's terminals that several modern ones support.
//
// Six rows form a band, in which each colour is drawn separately. An image with few colours keeps them, others are reduced
// to a cube of 216 colours.

import type { Pixels } from "../../../util/image/png.ts";

const MAX_COLOURS = 256;
const LEVELS = 6;

export function toSixel({ width, height, rgb }: Pixels): string {
  const { colours, indexes } = toPalette(rgb);
  const parts = [`\u001BPq"1;1;${width};${height}`];
  for (const [index, colour] of colours.entries()) {
    const percent = [colour >> 16, (colour >> 8) & 255, colour & 255].map((value) => Math.round((value * 100) / 255));
    parts.push(`#${index};2;${percent.join(";")}`);
  }
  for (let top = 0; top < height; top += 6) parts.push(toBand(indexes, width, Math.min(6, height - top), top));
  parts.push("\u001B\\");
  return parts.join("");
}

function toBand(indexes: Uint8Array, width: number, rows: number, top: number): string {
  const lines = new Map<number, Uint8Array>();
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const colour = indexes[(top + row) * width + column] ?? 0;
      let line = lines.get(colour);
      if (line === undefined) lines.set(colour, (line = new Uint8Array(width)));
      line[column] = (line[column] ?? 0) | (1 << row);
    }
  }
  return `${[...lines].map(([colour, line]) => `#${colour}${toRuns(line)}`).join("$")}-`;
}

/** Run-length encoding: `!12~` is twelve of `~`. */
function toRuns(line: Uint8Array): string {
  let text = "";
  for (let at = 0; at < line.length;) {
    let end = at + 1;
    while (end < line.length && line[end] === line[at]) end += 1;
    const sign = String.fromCharCode(63 + (line[at] ?? 0));
    text += end - at > 3 ? `!${end - at}${sign}` : sign.repeat(end - at);
    at = end;
  }
  return text;
}

interface IndexedColours {
  readonly colours: readonly number[];
  readonly indexes: Uint8Array;
}

function toPalette(rgb: Uint8Array): IndexedColours {
  const step = 255 / (LEVELS - 1);
  const toLevel = (value: number): number => Math.round(Math.round(value / step) * step);
  // The cube has 216 colours, so it always fits.
  return indexColours(rgb, (value) => value) ?? (indexColours(rgb, toLevel) as IndexedColours);
}

/** Undefined: there are more than `MAX_COLOURS`. */
function indexColours(rgb: Uint8Array, round: (value: number) => number): IndexedColours | undefined {
  const indexes = new Uint8Array(rgb.length / 3);
  const known = new Map<number, number>();
  for (let pixel = 0; pixel < indexes.length; pixel += 1) {
    const [red = 0, green = 0, blue = 0] = rgb.subarray(pixel * 3, pixel * 3 + 3);
    const colour = (round(red) << 16) | (round(green) << 8) | round(blue);
    let index = known.get(colour);
    if (index === undefined) known.set(colour, (index = known.size));
    if (known.size > MAX_COLOURS) return undefined;
    indexes[pixel] = index;
  }
  return { colours: [...known.keys()], indexes };
}
