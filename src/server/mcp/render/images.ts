// Images for a model: small enough to send, and verified, because providers reject a whole conversation for one broken image.

import { type Png, pngSize, readPng } from "../../../util/image/png.ts";
import { toPng } from "../../../util/image/encode-png.ts";
import { parseJpegSize } from "../../../util/image/jpeg-size.ts";
import { shrinkPixels } from "../../../util/image/shrink-pixels.ts";
import { formatCount, formatSize } from "../../../util/text/format.ts";
import type { Image } from "./result.ts";

const MAX_SIDE = 1024;
const MAX_BYTES = 1024 * 1024;
const MAX_PIXELS = 50_000_000;
/** Of the encoded file. Sessions have the same limit. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Of either side of a PNG: at least one row is in memory. */
const MAX_PNG_SIDE = 65_536;
/** Larger images take much memory while they are decoded. */
const MANY_PIXELS = 2_000_000;
/** JPEGs are not scaled: providers reject larger ones. */
const MAX_JPEG_SIDE = 8000;

type Shrunk = Image | { readonly refused: string };

/** Large images are processed one at a time and in small steps, so that they block nothing else. */
export class Images {
  #large: Promise<unknown> = Promise.resolve();

  /**
   * A PNG of at most 1,024 x 1,024 pixels and 1 MiB is passed on; others are scaled down, with transparency on white. A JPEG is passed on
   * or refused. Never rejects; `refused` is a message for the model.
   */
  async shrink({ mimeType, base64 }: Image): Promise<Shrunk> {
    const name = mimeType === "image/png" ? "PNG" : "JPEG";
    if (base64.length > (MAX_FILE_BYTES * 4) / 3 + 4)
      return refuse(name, `is larger than ${formatSize(MAX_FILE_BYTES)}`);
    const data = Buffer.from(base64, "base64");
    if (mimeType === "image/jpeg") return checkJpeg(data);
    const size = pngSize(data);
    if (size === undefined) return { refused: "the PNG is not an image" };
    const { width, height } = size;
    if (width * height > MAX_PIXELS) return refuse(name, `has ${toSides(size)} pixels, and 50 million can be read`);
    if (Math.max(width, height) > MAX_PNG_SIDE) return refuse(name, `has ${toSides(size)} pixels`);
    if (width * height <= MANY_PIXELS) return shrinkPng(data, size);
    const shrunk = this.#large.then(() => shrinkPng(data, size));
    this.#large = shrunk.catch(() => {});
    return shrunk;
  }
}

async function shrinkPng(data: Buffer, { width, height }: Sides): Promise<Shrunk> {
  const read = (): Promise<Png | undefined> => readPng(data, { maxPixels: MAX_PIXELS });
  const png = await read();
  if (png === undefined) return { refused: "the PNG is damaged, or of an unknown kind; save it again" };
  if (Math.max(width, height) <= MAX_SIDE && data.length <= MAX_BYTES) return toImage("image/png", data);
  for (let side = MAX_SIDE; ; side /= 2) {
    // Rows can be read only once. Only noise ever needs a second size.
    const shrunk = await toPng(await shrinkPixels(side === MAX_SIDE ? png : ((await read()) ?? png), side));
    if (shrunk.length <= MAX_BYTES) return toImage("image/png", shrunk);
  }
}

function checkJpeg(data: Buffer): Shrunk {
  const size = parseJpegSize(data);
  if (size === undefined) return { refused: "the JPEG is not an image" };
  if (data.length > MAX_BYTES) return refuse("JPEG", `has ${formatSize(data.length)}, and 1 MiB can be shown`);
  const isLarge = Math.max(size.width, size.height) > MAX_JPEG_SIDE;
  return isLarge ? refuse("JPEG", `has ${toSides(size)} pixels`) : toImage("image/jpeg", data);
}

function toImage(mimeType: Image["mimeType"], data: Buffer): Shrunk {
  return { mimeType, base64: data.toString("base64") };
}

function refuse(name: string, fact: string): Shrunk {
  return { refused: `the ${name} ${fact}; save it smaller` };
}

interface Sides {
  readonly width: number;
  readonly height: number;
}

function toSides({ width, height }: Sides): string {
  return `${formatCount(width)} x ${formatCount(height)}`;
}
